import {
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql/index.js';
import {own} from '../../lib/object.ts';

/** A page of 1,000 media with all their fields costs 15,002. */
const maxCost = 20_000;

/** What a mutation costs, since it writes. */
const changeCost = 50;

/** The lengths of a page of media: at most, and if the query does not set one, as the schema says. */
export const longestPage = 1_000;
const defaultPage = 20;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/**
 * The rule that limits the cost of an operation: 1 for each value that it may return, under any name; values below a list count
 * once for each possible item.
 */
export function costLimit(variables: Variables): ValidationRule {
  return context => ({
    OperationDefinition({operation, selectionSet}) {
      const fieldCost = operation === OperationTypeNode.MUTATION ? changeCost : 1;
      const cost = new QueryCost(context, variables).of(selectionSet, {fieldCost, pageLength: 1});
      if (cost <= maxCost) return;
      const sentence = `The cost of the query is ${cost}, which exceeds the maximum of ${maxCost}.`;
      const extensions = {code: 'MAX_COST_EXCEEDED', value: cost, maximum: maxCost};
      context.reportError(new GraphQLError(sentence, {extensions}));
    },
  });
}

/** Where a selection stands: what each of its fields costs, and how many items its lists may have. */
interface Place {
  readonly fieldCost: number;
  readonly pageLength: number;
}

class QueryCost {
  readonly #context: ValidationContext;
  readonly #variables: Variables;
  readonly #fragments = new Map<string, number>();

  constructor(context: ValidationContext, variables: Variables) {
    this.#context = context;
    this.#variables = variables;
  }

  of({selections}: SelectionSetNode, place: Place): number {
    const costs = selections.map(selection => {
      if (selection.kind === Kind.FIELD) return this.#ofField(selection, place);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#ofFragment(selection.name.value, place);
      return this.of(selection.selectionSet, place);
    });
    return costs.reduce((sum, cost) => sum + cost, 0);
  }

  #ofField(field: FieldNode, {fieldCost, pageLength}: Place): number {
    const {name, selectionSet} = field;
    if (selectionSet === undefined) return fieldCost;
    const below = {fieldCost: 1, pageLength: name.value === 'mediaList' ? this.#pageLengthOf(field) : 1};
    const items = name.value === 'edges' || name.value === 'nodes' ? Math.max(1, pageLength) : 1;
    return fieldCost + items * this.of(selectionSet, below);
  }

  /** Each fragment is measured once in each kind of place: fragments of fragments may spread it a million times. */
  #ofFragment(name: string, place: Place): number {
    const id = `${name} ${place.fieldCost} ${place.pageLength}`;
    const known = this.#fragments.get(id);
    if (known !== undefined) return known;
    // A fragment that contains itself is refused by another rule.
    this.#fragments.set(id, 0);
    const fragment = this.#context.getFragment(name);
    const cost = fragment == null ? 0 : this.of(fragment.selectionSet, place);
    this.#fragments.set(id, cost);
    return cost;
  }

  #pageLengthOf(field: FieldNode): number {
    const value = field.arguments?.find(({name}) => name.value === 'first')?.value;
    if (value === undefined) return defaultPage;
    if (value.kind === Kind.INT) return Number(value.value);
    const given = value.kind === Kind.VARIABLE ? own(this.#variables ?? {}, value.name.value) : undefined;
    return typeof given === 'number' ? given : longestPage;
  }
}
