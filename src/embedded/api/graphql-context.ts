import {GraphQLError, type GraphQLFieldResolver} from 'graphql/index.js';
import {Refusal} from '../exchange/refusal.ts';
import type {StoredKey} from '../keys/keys.ts';
import type {Service} from './context.ts';

/** The context of a resolver: its request. */
export type ResolverContext = {
  readonly service: Service;
  readonly key: StoredKey;
};

type Resolver<Parent, Given> = (parent: Parent, given: Given, context: ResolverContext) => unknown;

/** A resolver whose failures are reported to the service, since the client does not see them; refusals are for the client. */
export function guarded<Parent, Given>(
  resolve: Resolver<Parent, Given>,
): GraphQLFieldResolver<Parent, ResolverContext, Given> {
  return async (parent, given, context) => {
    try {
      return await resolve(parent, given, context);
    } catch (error) {
      if (error instanceof Refusal)
        throw new GraphQLError(error.message, {extensions: {status: error.status}});
      if (!(error instanceof GraphQLError)) context.service.observer.onError(error);
      throw error;
    }
  };
}
