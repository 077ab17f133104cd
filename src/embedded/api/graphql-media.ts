import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql/index.js';
import {limited} from '../../lib/limited.ts';
import type {MediaRecord} from '../../service/record.ts';
import {isRecordId} from '../store/record-id.ts';
import {mediaRecord} from '../store/stored-record.ts';
import type {Service} from './context.ts';
import {guarded, type ResolverContext} from './graphql-context.ts';
import {defaultPage} from './query-limits.ts';

const pageLimit = 1_000;

const nonNull = <T extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: T) =>
  new GraphQLNonNull(type);

const MediaUrl = new GraphQLObjectType({
  name: 'MediaUrl',
  fields: {
    variant: {type: nonNull(new GraphQLEnumType({name: 'MediaUrlVariant', values: {PUBLIC: {}}}))},
    url: {type: nonNull(GraphQLString)},
  },
});

const Media = new GraphQLObjectType<MediaRecord, ResolverContext>({
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

/** A page of the list, as a connection of the GraphQL Cursor Connections specification. */
interface MediaPage {
  readonly nodes: readonly MediaRecord[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

const MediaEdge = new GraphQLObjectType<MediaRecord, ResolverContext>({
  name: 'MediaEdge',
  fields: {
    cursor: {type: nonNull(GraphQLString), resolve: ({id}) => id},
    node: {type: nonNull(Media), resolve: record => record},
  },
});

const PageInfo = new GraphQLObjectType<MediaPage, ResolverContext>({
  name: 'PageInfo',
  fields: {
    hasNextPage: {type: nonNull(GraphQLBoolean)},
    hasPreviousPage: {type: nonNull(GraphQLBoolean)},
    startCursor: {type: GraphQLString, resolve: ({nodes}) => nodes[0]?.id},
    endCursor: {type: GraphQLString, resolve: ({nodes}) => nodes.at(-1)?.id},
  },
});

const MediaConnection = new GraphQLObjectType<MediaPage, ResolverContext>({
  name: 'MediaConnection',
  fields: {
    edges: {type: nonNull(new GraphQLList(nonNull(MediaEdge))), resolve: ({nodes}) => nodes},
    nodes: {type: nonNull(new GraphQLList(nonNull(Media))), description: 'The nodes of the edges.'},
    pageInfo: {type: nonNull(PageInfo), resolve: page => page},
    totalCount: {type: nonNull(GraphQLInt), description: 'How many media there are on all pages.'},
  },
});

type MediaField = GraphQLFieldConfig<unknown, ResolverContext>;

/** The field `media` of a query. */
export const mediaField: MediaField = {
  type: Media,
  args: {id: {type: nonNull(GraphQLID)}},
  resolve: guarded((_, {id}: {id: string}, {service}) => findMedia(service, id)),
};

/** The field `mediaList` of a query. */
export const mediaListField: MediaField = {
  type: nonNull(MediaConnection),
  description: 'Newest first.',
  args: {
    first: {type: nonNull(GraphQLInt), defaultValue: defaultPage, description: `At most ${pageLimit}.`},
    after: {type: GraphQLString, description: 'Only what follows this cursor.'},
  },
  resolve: guarded((_, page: {first: number; after?: string | null}, {service}) => listMedia(service, page)),
};

/** Each read takes a descriptor, and one query may ask for thousands of media. */
const readsAtOnce = limited(32);

async function findMedia(service: Service, id: string): Promise<MediaRecord | null> {
  const stored = await readsAtOnce(() => service.store.find(id));
  return stored === undefined ? null : mediaRecord(stored, service.publicUrl());
}

async function listMedia(
  service: Service,
  {first, after}: {first: number; after?: string | null},
): Promise<MediaPage> {
  if (first < 1 || first > pageLimit) throw new GraphQLError(`"first" must be from 1 to ${pageLimit}.`);
  if (after != null && !isRecordId(after))
    throw new GraphQLError('"after" must be a cursor, such as pageInfo.endCursor.');
  const ids = (await service.store.ids()).reverse();
  const rest = after == null ? ids : ids.filter(id => id < after);
  const media = await Promise.all(rest.slice(0, first).map(id => findMedia(service, id)));
  return {
    // One that was deleted meanwhile is left out.
    nodes: media.filter(record => record !== null),
    totalCount: ids.length,
    hasNextPage: rest.length > first,
    hasPreviousPage: rest.length < ids.length,
  };
}
