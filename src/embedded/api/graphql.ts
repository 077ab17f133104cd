import {createHash} from 'node:crypto';
import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  // By file name: graphql-http imports this very file, and tools that prefer graphql's index.mjs would load a second copy.
} from 'graphql/index.js';
import {createHandler} from 'graphql-http';
import {limited} from '../../lib/limited.ts';
import type {MediaRecord} from '../../service/record.ts';
import {readBody} from '../exchange/body.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {respond, respondJson} from '../exchange/respond.ts';
import {ownerOf, type StoredKey} from '../store/keys.ts';
import {isRecordId} from '../store/record-id.ts';
import {mediaRecord} from '../store/store.ts';
import {authorize} from './authorize.ts';
import type {Service} from './context.ts';
import {costLimit, defaultPage, maxTokens} from './query-cost.ts';

const bodyLimit = 1024 * 1024;
const pageLimit = 1_000;

/** The context of a resolver: its request. */
type Context = {
  readonly service: Service;
  readonly key: StoredKey;
};

const nonNull = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: T) =>
  new GraphQLNonNull(type);

const MediaUrl = new GraphQLObjectType({
  name: 'MediaUrl',
  fields: {
    variant: {type: nonNull(new GraphQLEnumType({name: 'MediaUrlVariant', values: {PUBLIC: {}}}))},
    url: {type: nonNull(GraphQLString)},
  },
});

const Media = new GraphQLObjectType<MediaRecord, Context>({
  name: 'Media',
  description: 'An uploaded image or video. What cannot be read from its bytes is null.',
  fields: {
    id: {type: nonNull(GraphQLID)},
    type: {type: nonNull(new GraphQLEnumType({name: 'MediaType', values: {IMAGE: {}, VIDEO: {}}}))},
    urls: {type: nonNull(new GraphQLList(nonNull(MediaUrl)))},
    width: {type: GraphQLInt, description: 'Coded width in pixels, before any rotation.'},
    height: {type: GraphQLInt, description: 'Coded height in pixels, before any rotation.'},
    imageType: {type: GraphQLString, description: 'The format of an image, e.g. png.'},
    fileUrl: {type: nonNull(GraphQLString)},
    duration: {type: GraphQLFloat, description: 'Seconds.'},
    thumbnailUrl: {type: GraphQLString},
    hlsUrl: {type: GraphQLString},
    size: {type: nonNull(GraphQLFloat), description: 'Bytes; a whole number, beyond the range of Int.'},
  },
});

const Viewer = new GraphQLObjectType<StoredKey, Context>({
  name: 'Viewer',
  description: 'The owner of the API key of the request.',
  fields: {
    id: {type: nonNull(GraphQLID), resolve: viewerId},
    name: {type: nonNull(GraphQLString), resolve: viewerName},
    email: {type: GraphQLString, resolve: () => null},
    permissions: {type: nonNull(new GraphQLList(nonNull(GraphQLString)))},
  },
});

const Query = new GraphQLObjectType<unknown, Context>({
  name: 'Query',
  fields: {
    viewer: {type: nonNull(Viewer), resolve: (_, __, {key}) => key},
    media: {
      type: Media,
      args: {id: {type: nonNull(GraphQLID)}},
      resolve: (_, {id}: {id: string}, {service}) => reported(service, findMedia(service, id)),
    },
    mediaList: {
      type: nonNull(new GraphQLList(nonNull(Media))),
      description: 'Newest first.',
      args: {
        first: {type: nonNull(GraphQLInt), defaultValue: defaultPage, description: `At most ${pageLimit}.`},
        after: {type: GraphQLID, description: 'Only media older than the one of this ID.'},
      },
      resolve: (_, page: {first: number; after?: string | null}, {service}) =>
        reported(service, listMedia(service, page)),
    },
  },
});

const schema = new GraphQLSchema({query: Query});

const handle = createHandler<Exchange, Context, Context>({
  schema,
  context: request => request.context,
  parse: source => parse(source, {maxTokens}),
  validationRules: (_request, {variableValues}, rules) => [...rules, costLimit(variableValues)],
  formatError: error => {
    // Unintended errors of resolvers may contain paths, for example, and are hidden from the client.
    const original = error instanceof GraphQLError ? error.originalError : undefined;
    return original == null || original instanceof GraphQLError
      ? error
      : new GraphQLError('Internal error.', {originalError: original});
  },
});

/** POST and GET of /graphql (service interface, 4.2), as the GraphQL-over-HTTP draft has them. */
export async function graphql(exchange: Exchange, service: Service): Promise<void> {
  const {request, method} = exchange;
  const key = await authorize(request.headers, ['read', 'graphql'], service);
  const body = method === 'GET' ? '' : await readBody(exchange, bodyLimit);
  await exchange.disturbance?.at('body');
  const [result, {status, headers}] = await handle({
    method,
    url: request.url ?? '/graphql',
    headers: request.headers,
    body,
    raw: exchange,
    context: {service, key},
  });
  await exchange.disturbance?.at('store');
  if (result === null) {
    const message =
      status === 415 ? 'Content-Type must be application/json.' : 'The request is not acceptable.';
    respondJson(exchange, status, {code: status, message}, headers);
    return;
  }
  respond(exchange, status, result, headers ?? {});
}

/** The result of a resolver; reports a failure to the service, since the client does not see it. */
async function reported<T>({observer}: Service, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof GraphQLError)) observer.onError(error);
    throw error;
  }
}

/** Each read takes a descriptor, and one query may ask for thousands of media. */
const readsAtOnce = limited(32);

async function findMedia(service: Service, id: string): Promise<MediaRecord | null> {
  const stored = await readsAtOnce(() => service.store.find(id));
  return stored === undefined ? null : mediaRecord(stored, service.publicUrl());
}

async function listMedia(
  service: Service,
  {first, after}: {first: number; after?: string | null},
): Promise<MediaRecord[]> {
  if (first < 1 || first > pageLimit) throw new GraphQLError(`"first" must be from 1 to ${pageLimit}.`);
  if (after != null && !isRecordId(after)) throw new GraphQLError('"after" must be a media ID.');
  const ids = (await service.store.ids()).filter(id => after == null || id < after);
  const page = ids.reverse().slice(0, first);
  const media = await Promise.all(page.map(id => findMedia(service, id)));
  return media.filter(record => record !== null);
}

/** The user's name on the profile page, or the key if no name is set. */
async function viewerName(key: StoredKey, _: unknown, {service}: Context): Promise<string> {
  return (await reported(service, service.profile.name())) ?? key.label ?? key.name ?? 'local';
}

function viewerId(key: StoredKey): string {
  return createHash('sha256').update(ownerOf(key)).digest('hex').slice(0, 16);
}
