import {buildSchema, GraphQLError, parse} from 'graphql/index.js';
import {createHandler} from 'graphql-http';
import type {Exchange} from '../exchange/http-exchange.ts';
import {Refusal, refusalOf} from '../exchange/refusal.ts';
import {readBody} from '../exchange/request-body.ts';
import {respond} from '../exchange/respond.ts';
import {authorize} from './authorize.ts';
import type {Service} from './context.ts';
import {type ResolverContext, rootResolvers} from './graphql-resolvers.ts';
import {schemaText} from './graphql-schema.ts';
import {costLimit} from './query-cost.ts';

// graphql is imported by file name: graphql-http imports that very file, and tools that prefer graphql's index.mjs
// would load a second copy.
const handle = createHandler<Exchange, ResolverContext, ResolverContext>({
  schema: buildSchema(schemaText),
  rootValue: rootResolvers,
  context: request => request.context,
  // A longer document is refused: comparing its fields with each other would take long.
  parse: source => parse(source, {maxTokens: 10_000}),
  validationRules: (_request, {variableValues}, rules) => [...rules, costLimit(variableValues)],
  onOperation: ({context}, _args, {errors = []}) => {
    for (const {originalError} of errors)
      if (isUnintended(originalError)) context.service.observer.onError(originalError);
  },
  formatError: error => {
    if (!(error instanceof GraphQLError)) return error;
    const {originalError, nodes = null, path = null} = error;
    // Its message may contain a path, for example.
    if (isUnintended(originalError)) return new GraphQLError('Internal error.');
    const {message, status} = refusalOf(originalError) ?? {};
    return message === undefined ? error : new GraphQLError(message, {nodes, path, extensions: {status}});
  },
});

/** Whether an error is a failure of the service itself, of which the client learns only that there was one. */
function isUnintended(error: Error | undefined): boolean {
  return error !== undefined && !(error instanceof GraphQLError) && refusalOf(error) === undefined;
}

/** POST and GET of /graphql (docs/design/interface.md), by the GraphQL-over-HTTP draft; ?sdl: the schema. */
export async function graphql(exchange: Exchange, service: Service): Promise<void> {
  const {request, method} = exchange;
  const key = await authorize(request.headers, ['read', 'graphql'], service);
  if (method === 'GET' && /\?sdl(?:[=&]|$)/.test(request.url ?? '')) {
    const sdlHeaders = {'Content-Type': 'application/graphql; charset=utf-8'};
    respond(exchange, {status: 200, text: schemaText.trimStart(), headers: sdlHeaders});
    return;
  }
  const body = method === 'GET' ? '' : await readBody(exchange, 1024 * 1024);
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
    throw new Refusal(status, message, headers);
  }
  respond(exchange, {status, text: result, headers: headers ?? {}});
}
