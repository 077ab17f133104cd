import {
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  valueFromASTUntyped,
} from 'graphql/index.js';
import {own} from '../../lib/object.ts';

/** A page of 1,000 media with all their fields costs 18,002. */
const maxCost = 20_000;

/** What a mutation costs, since it writes. */
const changeCost = 50;

/** The lengths of a page of media: at most, and if the query does not set one, as the schema says. */
export const longestPage = 1_000;
const defaultPage = 20;

type Variables = Readonly<Record<string, unknown>>;

/** The cost of an operation: 1 for each value that it may return; those below a list count for each possible item. */
export function costLimit(given: Variables | null | undefined): ValidationRule {
  return context => ({
    OperationDefinition({operation, selectionSet, variableDefinitions = []}) {
      const defaults = variableDefinitions.map(({variable, defaultValue}) => [
        variable.name.value,
        defaultValue && valueFromASTUntyped(defaultValue),
      ]);
      const variables = {...Object.fromEntries(defaults), ...given};
      const fieldCost = operation === OperationTypeNode.MUTATION ? changeCost : 1;
      const cost = measuring(context, variables)(selectionSet, {fieldCost, pageLength: 1});
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

/** Measures selections of one operation. */
function measuring(context: ValidationContext, variables: Variables) {
  const fragments = new Map<string, number>();
  const costOf = ({selections}: SelectionSetNode, place: Place): number => {
    const costs = selections.map(selection => {
      if (selection.kind === Kind.FIELD) return ofField(selection, place);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value, place);
      return costOf(selection.selectionSet, place);
    });
    return costs.reduce((sum, cost) => sum + cost, 0);
  };
  const ofField = (field: FieldNode, {fieldCost, pageLength}: Place): number => {
    const {name, selectionSet} = field;
    if (selectionSet === undefined) return fieldCost;
    const isList = name.value === 'mediaList';
    const below = {fieldCost: 1, pageLength: isList ? pageLengthOf(field, variables) : 1};
    const items = name.value === 'edges' || name.value === 'nodes' ? Math.max(1, pageLength) : 1;
    return fieldCost + items * costOf(selectionSet, below);
  };
  // Each fragment is measured once in each kind of place: fragments of fragments may spread it a million times.
  const ofFragment = (name: string, place: Place): number => {
    const id = `${name} ${place.fieldCost} ${place.pageLength}`;
    const known = fragments.get(id);
    if (known !== undefined) return known;
    // A fragment that contains itself is refused by another rule.
    fragments.set(id, 0);
    const fragment = context.getFragment(name);
    const cost = fragment == null ? 0 : costOf(fragment.selectionSet, place);
    fragments.set(id, cost);
    return cost;
  };
  return costOf;
}

function pageLengthOf(field: FieldNode, variables: Variables): number {
  const value = field.arguments?.find(({name}) => name.value === 'first')?.value;
  if (value === undefined) return defaultPage;
  if (value.kind === Kind.INT) return Number(value.value);
  const given = value.kind === Kind.VARIABLE ? own(variables, value.name.value) : undefined;
  return typeof given === 'number' ? given : longestPage;
}
