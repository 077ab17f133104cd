import {GraphQLError, GraphQLObjectType, GraphQLSchema, parse} from 'graphql/index.js';
import {createHandler} from 'graphql-http';
import {readBody} from '../exchange/body.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {respond, respondJson} from '../exchange/respond.ts';
import {authorize} from './authorize.ts';
import type {Service} from './context.ts';
import type {ResolverContext} from './graphql-context.ts';
import {mediaField, mediaListField} from './graphql-media.ts';
import {changes, viewerField} from './graphql-viewer.ts';
import {limits, maxTokens} from './query-limits.ts';

const bodyLimit = 1024 * 1024;

// graphql is imported by file name: graphql-http imports that very file, and tools that prefer graphql's index.mjs would load a
// second copy.
const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, ResolverContext>({
    name: 'Query',
    fields: {viewer: viewerField, media: mediaField, mediaList: mediaListField},
  }),
  mutation: new GraphQLObjectType<unknown, ResolverContext>({name: 'Mutation', fields: changes}),
});

const handle = createHandler<Exchange, ResolverContext, ResolverContext>({
  schema,
  context: request => request.context,
  parse: source => parse(source, {maxTokens}),
  validationRules: (_request, {variableValues}, rules) => [...rules, limits(variableValues)],
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
