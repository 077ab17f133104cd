import {parseName, Refusal} from '../exchange/refusal.ts';
import {hashOf, keyId, ownerOf, type Permission, type StoredKey} from '../state/keys.ts';
import {ignoreDamage} from '../state/state.ts';
import {isRecordId, mediaRecord} from '../state/stored-record.ts';
import type {Service} from './context.ts';
import {longestPage} from './query-cost.ts';

const mostDays = 3650;

/** What a resolver knows of its request. */
export type ResolverContext = {
  readonly service: Service;
  readonly key: StoredKey;
};

/** The resolvers of all queries and mutations. A Refusal is for the client, any other error is not. */
export const rootResolvers = {
  viewer: (_: unknown, context: ResolverContext) => viewerOf(context),
  media: ({id}: {id: string}, {service}: ResolverContext) => findMedia(service, id),
  mediaList: (page: Page, {service}: ResolverContext) => listMedia(service, page),
  deleteMedia: mutation(async ({id}: {id: string}, {service}) => {
    const record = await service.store.find(id);
    if (record === undefined) throw new Refusal(404, 'No image or video has this ID.');
    await service.store.remove([record.id]);
    return record.id;
  }),
  updateProfile: mutation(async ({name}: {name: string}, context) => {
    await context.service.profile.setName(parseName(name));
    return viewerOf(context);
  }),
  createApiKey: mutation(createKey),
  revokeApiKey: mutation(async ({id}: {id: string}, {service}) => {
    if (!(await service.keys.revokeOne(id))) throw new Refusal(404, 'There is no such key.');
    return id;
  }),
};

type Resolver<Given, Result> = (given: Given, context: ResolverContext) => Promise<Result>;

/** Makes a resolver a mutation: it throws a 403 unless the key has the permission `graphql`. */
function mutation<Given, Result>(resolve: Resolver<Given, Result>): Resolver<Given, Result> {
  return async (given, context) => {
    if (!context.key.permissions.includes('graphql'))
      throw new Refusal(403, 'The API key lacks the permission "graphql".');
    return resolve(given, context);
  };
}

/** A media record, with what the service knows besides; null for an unknown ID. Rejects if it is damaged. */
async function findMedia(service: Service, id: string) {
  const stored = await service.store.find(id);
  if (stored === undefined) return null;
  const {contentType, sha256, createdAt} = stored;
  return {...mediaRecord(stored, service.publicUrl()), contentType, sha256, createdAt};
}

interface Page {
  readonly first: number;
  readonly after?: string | null;
}

/** A page of media, newest first; a damaged record is left out, and the observer is informed. */
async function listMedia(service: Service, {first, after}: Page) {
  if (first < 1 || first > longestPage) throw new Refusal(400, `"first" must be from 1 to ${longestPage}.`);
  if (after != null && !isRecordId(after))
    throw new Refusal(400, '"after" must be a cursor, such as pageInfo.endCursor.');
  const ids = (await service.store.ids()).reverse();
  const rest = after == null ? ids : ids.filter(id => id < after);
  const page = rest.slice(0, first);
  const media = await Promise.all(
    page.map(id =>
      findMedia(service, id).catch(error => {
        ignoreDamage(error);
        service.observer.onError(error);
        return null;
      }),
    ),
  );
  // One that was deleted meanwhile, or whose record is damaged, is left out; the log names the latter.
  const nodes = media.filter(record => record !== null);
  return {
    nodes,
    edges: nodes.map(node => ({cursor: node.id, node})),
    pageInfo: {
      hasNextPage: rest.length > first,
      hasPreviousPage: rest.length < ids.length,
      startCursor: page[0],
      endCursor: page.at(-1),
    },
    totalCount: ids.length,
  };
}

/** The owner of the key of the request; its functions run only for the fields that a query names. */
function viewerOf({service, key}: ResolverContext) {
  return {
    id: hashOf(ownerOf(key)).slice(0, 16),
    // Without a name of the user, that of the key.
    name: async () => (await service.profile.name()) ?? key.label ?? key.name ?? 'local',
    email: null,
    permissions: key.permissions,
    apiKeys: async () => (await service.keys.list()).map(one => keyFields(one, service)),
  };
}

/** A key as the type ApiKey; it also has fields such as `hash` that the schema must never name. */
function keyFields(key: StoredKey, {keys}: Service) {
  return {
    ...key,
    id: keyId(key),
    permissions: key.permissions.map(permission => permission.toUpperCase()),
    lastUsedAt: async () => (await keys.lastUse(key))?.lastUsedAt,
  };
}

interface WantedKey {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly expiresInDays?: number | null;
}

/** Creates a key with no permission but `read` beyond those of the request's key, and no longer validity. */
async function createKey(input: WantedKey, {service, key}: ResolverContext) {
  const permissions = input.permissions.map(permission => permission.toLowerCase() as Permission);
  const foreign = permissions.find(one => one !== 'read' && !key.permissions.includes(one));
  if (foreign !== undefined) throw new Refusal(403, `The API key itself lacks the permission "${foreign}".`);
  if (permissions.length === 0) throw new Refusal(422, 'The permissions are missing.');
  const days = input.expiresInDays ?? undefined;
  if (days !== undefined && (days < 1 || days > mostDays))
    throw new Refusal(422, `"expiresInDays" must be from 1 to ${mostDays}.`);
  const plain = await service.keys.create({
    name: parseName(input.name),
    permissions: [...new Set(permissions)],
    expiresBy: key.expiresAt,
    ...(days === undefined ? {} : {validForMs: days * 24 * 60 * 60 * 1000}),
  });
  const newKey = await service.keys.find(plain);
  return {key: plain, apiKey: newKey && keyFields(newKey, service)};
}
