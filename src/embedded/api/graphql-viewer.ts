import {createHash} from 'node:crypto';
import {
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql/index.js';
import {Refusal} from '../exchange/refusal.ts';
import {singleLine} from '../exchange/single-line.ts';
import {keyId, ownerOf, type Permission, type StoredKey} from '../keys/keys.ts';
import {guarded, type ResolverContext} from './graphql-context.ts';

const longestName = 100;
const mostDays = 3650;
const dayMs = 24 * 60 * 60 * 1000;

const KeyPermission = new GraphQLEnumType({
  name: 'Permission',
  values: {
    UPLOAD: {value: 'upload' satisfies Permission, description: 'Uploads.'},
    READ: {value: 'read' satisfies Permission, description: 'Queries.'},
    GRAPHQL: {value: 'graphql' satisfies Permission, description: 'Queries and mutations.'},
  },
});
const permissions = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(KeyPermission)));
const id = new GraphQLNonNull(GraphQLID);
const text = new GraphQLNonNull(GraphQLString);

const ApiKey = new GraphQLObjectType<StoredKey, ResolverContext>({
  name: 'ApiKey',
  fields: {
    id: {type: id, resolve: keyId},
    name: {type: GraphQLString},
    prefix: {type: GraphQLString, description: 'The beginning of the key.'},
    permissions: {type: permissions},
    createdAt: {type: text, description: 'ISO 8601, UTC.'},
    expiresAt: {type: GraphQLString},
    lastUsedAt: {
      type: GraphQLString,
      description: 'To the minute.',
      resolve: guarded(async (key, _, {service}) => (await service.keyUses.find(key))?.lastUsedAt),
    },
  },
});

const Viewer = new GraphQLObjectType<StoredKey, ResolverContext>({
  name: 'Viewer',
  description: 'The owner of the API key of the request.',
  fields: {
    id: {type: id, resolve: viewerId},
    name: {type: text, resolve: guarded(viewerName)},
    email: {type: GraphQLString, resolve: () => null},
    permissions: {type: new GraphQLNonNull(new GraphQLList(text)), description: 'Those of the API key.'},
    apiKeys: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(ApiKey))),
      resolve: guarded((_, __, {service}) => service.keys.list()),
    },
  },
});

const CreatedKey = new GraphQLObjectType<{key: string; apiKey: StoredKey}, ResolverContext>({
  name: 'CreatedKey',
  fields: {
    key: {type: text, description: 'The key itself, which is shown only here.'},
    apiKey: {type: new GraphQLNonNull(ApiKey)},
  },
});

/** The field `viewer` of a query. */
export const viewerField: GraphQLFieldConfig<unknown, ResolverContext> = {
  type: new GraphQLNonNull(Viewer),
  resolve: (_, __, {key}) => key,
};

/** A mutation, which the key must permit. */
function change<Given>(
  field: Omit<GraphQLFieldConfig<unknown, ResolverContext, Given>, 'resolve'>,
  resolve: (given: Given, context: ResolverContext) => Promise<unknown>,
): GraphQLFieldConfig<unknown, ResolverContext, Given> {
  return {
    ...field,
    resolve: guarded<unknown, Given>((_, given, context) => {
      if (!context.key.permissions.includes('graphql'))
        throw new Refusal(403, 'The API key lacks the permission "graphql".');
      return resolve(given, context);
    }),
  };
}

const deleteMedia = change<{id: string}>(
  {type: GraphQLID, args: {id: {type: id}}, description: 'Deletes a medium; returns its ID.'},
  async (given, {service}) => {
    const record = await service.store.find(given.id);
    if (record === undefined) throw new Refusal(404, 'There is no such medium.');
    await service.store.remove(record.id);
    return record.id;
  },
);

const updateProfile = change<{name: string}>(
  {type: Viewer, args: {name: {type: text}}},
  async ({name}, {service, key}) => {
    await service.profile.setName(singleLine(name, 'name', longestName));
    return key;
  },
);

const createApiKey = change<{name: string; permissions: Permission[]; expiresInDays?: number | null}>(
  {
    type: CreatedKey,
    description:
      'Creates an API key with permissions of the key of the request; it expires no later than that one.',
    args: {
      name: {type: text},
      permissions: {type: permissions},
      expiresInDays: {type: GraphQLInt, description: 'Without it, as long as the key of the request.'},
    },
  },
  async (given, {service, key}) => {
    const own: readonly Permission[] = [...key.permissions, 'read'];
    const foreign = given.permissions.find(one => !own.includes(one));
    if (foreign !== undefined)
      throw new Refusal(403, `The API key itself lacks the permission "${foreign}".`);
    if (given.permissions.length === 0) throw new Refusal(422, 'The permissions are missing.');
    const days = given.expiresInDays ?? undefined;
    if (days !== undefined && (days < 1 || days > mostDays))
      throw new Refusal(422, `"expiresInDays" must be from 1 to ${mostDays}.`);
    const plain = await service.keys.create({
      name: singleLine(given.name, 'name', longestName),
      permissions: [...new Set(given.permissions)],
      expiresBy: key.expiresAt,
      ...(days === undefined ? {} : {validForMs: days * dayMs}),
    });
    return {key: plain, apiKey: await service.keys.find(plain)};
  },
);

const revokeApiKey = change<{id: string}>(
  {type: GraphQLID, args: {id: {type: id}}, description: 'Revokes an API key; returns its ID.'},
  async (given, {service}) => {
    if (!(await service.keys.revokeOne(given.id))) throw new Refusal(404, 'There is no such key.');
    await service.keyUses.forget(given.id);
    return given.id;
  },
);

/** The fields of a mutation. Each may be null, so that one that fails does not hide what the others did. */
export const changes = {deleteMedia, updateProfile, createApiKey, revokeApiKey};

/** The user's name on the profile page, or the key if no name is set. */
async function viewerName(key: StoredKey, _: unknown, {service}: ResolverContext): Promise<string> {
  return (await service.profile.name()) ?? key.label ?? key.name ?? 'local';
}

function viewerId(key: StoredKey): string {
  return createHash('sha256').update(ownerOf(key)).digest('hex').slice(0, 16);
}
