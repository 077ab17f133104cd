import {brokenRequestError, MediaError} from '../../errors.ts';
import {parseObject, valueAt} from '../../lib/json.ts';
import {omitUndefined} from '../../lib/object.ts';
import type {HttpResponse} from '../http/http.ts';
import type {ServiceClient} from './client.ts';
import {honoursKeysIn} from './record.ts';
import {type Refused, refusalIn} from './uploader.ts';

export type KeyVerdict =
  | {status: 'accepted'; honoursIdempotencyKeys: boolean}
  /** 401: the service does not know the key. */
  | {status: 'rejected'; httpStatus: 401; message?: string; refusal: Refused}
  /** 403 or 404: the key lacks permissions, or the base URL is wrong. */
  | {status: 'denied'; httpStatus: number; message?: string}
  /** No connection can be made. */
  | {status: 'unreachable'; error: MediaError}
  /** Any other response, or none. */
  | {status: 'unclear'; httpStatus?: number; message: string};

/** Checks with the smallest GraphQL query whether the service accepts the key, not what the key may do. */
export async function verifyKey(client: ServiceClient, signal: AbortSignal): Promise<KeyVerdict> {
  let response: HttpResponse;
  try {
    response = await client.graphql({query: '{__typename}'}, signal);
  } catch (error) {
    if (signal.aborted && !(error instanceof MediaError))
      return {status: 'unclear', message: 'it did not respond in time'};
    const broken = brokenRequestError(error, 'it');
    if (broken === error || broken.code === 'local_failure') return {status: 'unreachable', error: broken};
    return {status: 'unclear', message: broken.code === 'not_http' ? broken.message : 'the connection broke'};
  }
  return keyVerdict(response);
}

/** What the response to a query says of the key: accepted even if the query failed, since that came after the key. */
function keyVerdict(response: HttpResponse): KeyVerdict {
  const {status} = response;
  const refusal = refusalIn(response);
  const message = omitUndefined({message: refusal.message});
  if (status === 401) return {status: 'rejected', httpStatus: 401, ...message, refusal};
  if (status === 403 || status === 404) return {status: 'denied', httpStatus: status, ...message};
  const body = jsonObject(response);
  const isResponse = body !== undefined && ('data' in body || Array.isArray(body['errors']));
  if (isResponse && (status === 200 || status === 400))
    return {status: 'accepted', honoursIdempotencyKeys: honoursKeysIn(response) === true};
  const why = refusal.message ?? `the response (${status}) is not a GraphQL response`;
  return {status: 'unclear', httpStatus: status, message: why};
}

const wantedFields = ['id', 'name', 'email', 'username'] as const;

/** The owner of a key, as far as the service's schema has it. */
export type Identity = {[field in (typeof wantedFields)[number]]?: string};

const introspection = `{__schema{queryType{fields{name args{type{kind}} type{kind ofType{kind fields{name args{type{kind}} type{kind ofType{kind}}}} fields{name args{type{kind}} type{kind ofType{kind}}}}}}}}`;

type TypeReference = {kind?: string; ofType?: TypeReference | null; fields?: FieldDescription[] | null};

type FieldDescription = {name?: string; args?: {type?: {kind?: string}}[]; type?: TypeReference};

/** The owner of the key; undefined if introspection is off, the schema has no such field, or a request fails. */
export async function whoOwnsKey(client: ServiceClient, signal: AbortSignal): Promise<Identity | undefined> {
  try {
    const schema = jsonObject(await client.graphql({query: introspection}, signal));
    const fields = valueAt(schema, ['data', '__schema', 'queryType', 'fields']);
    const query = Array.isArray(fields) ? viewerQuery(fields as FieldDescription[]) : undefined;
    if (query === undefined) return undefined;
    const response = jsonObject(await client.graphql({query: query.text}, signal));
    return pickIdentity(valueAt(response, ['data', query.field]));
  } catch {
    return undefined;
  }
}

/** The account that a key belongs to, as a journal can compare it; undefined if the service does not say. */
export async function accountOfKey(client: ServiceClient, signal: AbortSignal): Promise<string | undefined> {
  const identity = await whoOwnsKey(client, signal);
  return identity?.id ?? identity?.email ?? identity?.username;
}

/** The query for the first viewer that has wanted fields. Journals keep its `id`: the order of names must stay. */
function viewerQuery(fields: FieldDescription[]): {text: string; field: string} | undefined {
  for (const field of ['viewer', 'me', 'currentUser']) {
    const [description] = withoutArguments(fields).filter(({name}) => name === field);
    const children = withoutArguments(stripNonNull(description?.type)?.fields ?? []);
    const scalars = children.filter(child => stripNonNull(child.type)?.kind === 'SCALAR');
    const wanted = wantedFields.filter(name => scalars.some(child => child.name === name));
    if (wanted.length > 0) return {field, text: `{${field}{${wanted.join(' ')}}}`};
  }
  return undefined;
}

/** The fields that need no arguments: with another one, the service would refuse the whole query. */
function withoutArguments(fields: FieldDescription[]): FieldDescription[] {
  return fields.filter(({args = []}) => args.every(({type}) => type?.kind !== 'NON_NULL'));
}

function stripNonNull(type: TypeReference | undefined): TypeReference | undefined | null {
  return type?.kind === 'NON_NULL' ? type.ofType : type;
}

/** The wanted fields of a viewer, as text; undefined if it has none of them. */
function pickIdentity(viewer: unknown): Identity | undefined {
  const identity: Identity = {};
  for (const name of wantedFields) {
    const value = valueAt(viewer, [name]);
    if (typeof value === 'string' || typeof value === 'number') identity[name] = String(value);
  }
  return Object.keys(identity).length === 0 ? undefined : identity;
}

function jsonObject(response: HttpResponse): Record<string, unknown> | undefined {
  return response.truncated || response.cut ? undefined : parseObject(response.body.toString());
}
