import {
  type FieldNode,
  GraphQLError,
  getArgumentValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql/index.js';
import {own} from '../../lib/object.ts';
import {undefinedIfThrows} from '../../lib/system-code.ts';

/** A page of 1,000 media with all their fields costs 18,002. */
const maxCost = 20_000;

/** The most items of a page of media. */
export const longestPage = 1_000;

type Variables = Readonly<Record<string, unknown>>;

/** A rule that refuses an operation above `maxCost`: 1 per value, those below a list once per possible item. */
export function costLimit(variables: Variables | null | undefined): ValidationRule {
  return context => ({
    // graphql calls it for each operation of a document before it runs any.
    OperationDefinition(operation) {
      const cost = costOf(operation, variables ?? {}, context);
      if (cost <= maxCost) return;
      const sentence = `The cost of the query is ${cost}, which exceeds the maximum of ${maxCost}.`;
      const extensions = {code: 'MAX_COST_EXCEEDED', value: cost, maximum: maxCost};
      context.reportError(new GraphQLError(sentence, {extensions}));
    },
  });
}

/** The cost of an operation with these variables. A list whose length cannot be read counts as the longest page. */
function costOf(operation: OperationDefinitionNode, input: Variables, context: ValidationContext): number {
  const schema = context.getSchema();
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const mediaList = schema.getQueryType()?.getFields()['mediaList'];
  const {coerced} = getVariableValues(schema, operation.variableDefinitions ?? [], input);
  const fragments = new Map<string, number>();
  // The cost of the fields in braces. `pageLength`: of the list of media that they belong to.
  const ofSelections = ({selections}: SelectionSetNode, pageLength: number): number => {
    const costs = selections.map(selection => {
      if (selection.kind === Kind.FIELD) return ofField(selection, pageLength);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value, pageLength);
      return ofSelections(selection.selectionSet, pageLength);
    });
    return costs.reduce((sum, cost) => sum + cost, 0);
  };
  // The cost of a field: of itself, and of what is below it for each item of a list.
  const ofField = (field: FieldNode, pageLength: number): number => {
    const {name, selectionSet} = field;
    // A mutation writes to the disk.
    const ofItself = own(mutations, name.value) === undefined ? 1 : 50;
    if (selectionSet === undefined) return ofItself;
    const items = name.value === 'edges' || name.value === 'nodes' ? Math.max(1, pageLength) : 1;
    return ofItself + items * ofSelections(selectionSet, name.value === 'mediaList' ? lengthOf(field) : 1);
  };
  // How many items `mediaList` may return.
  const lengthOf = (page: FieldNode): number => {
    const first = undefinedIfThrows(() => mediaList && getArgumentValues(mediaList, page, coerced)['first']);
    return typeof first === 'number' ? first : longestPage;
  };
  // Each fragment is measured once for each page length: fragments of fragments may spread it a million times.
  const ofFragment = (name: string, pageLength: number): number => {
    const id = `${name} ${pageLength}`;
    const fragmentCost = fragments.get(id);
    if (fragmentCost !== undefined) return fragmentCost;
    // A fragment that contains itself is refused by another rule.
    fragments.set(id, 0);
    const fragment = context.getFragment(name);
    const cost = fragment == null ? 0 : ofSelections(fragment.selectionSet, pageLength);
    fragments.set(id, cost);
    return cost;
  };
  return ofSelections(operation.selectionSet, 1);
}
