import {
  type FieldNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationRule,
  type ValueNode,
} from 'graphql/index.js';

/** A page of 1,000 media with all their fields costs 13,001. */
const maxCost = 20_000;

/** The length of a page of media if the query does not set one. */
export const defaultPage = 20;

/** A longer document is not parsed: comparing its fields with each other would take long. */
export const maxTokens = 10_000;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/**
 * The rule that limits the cost of an operation: 1 for each value that a field may return, under any name (aliases,
 * fragments); values below a list count once for each possible item.
 */
export function costLimit(variables: Variables): ValidationRule {
  return context => {
    const fragments = new Map<string, number>();
    const lengthOf = (value: ValueNode | undefined): number | undefined => {
      if (value?.kind === Kind.INT) return Number(value.value);
      const given = value?.kind === Kind.VARIABLE ? variables?.[value.name.value] : undefined;
      return typeof given === 'number' ? given : undefined;
    };
    const costOfField = ({name, arguments: given, selectionSet}: FieldNode): number => {
      const first = given?.find(({name: argument}) => argument.value === 'first')?.value;
      const length = name.value === 'mediaList' ? (lengthOf(first) ?? defaultPage) : 1;
      return 1 + Math.max(1, length) * (selectionSet === undefined ? 0 : costOf(selectionSet));
    };
    const costOfFragment = (name: string): number => {
      const known = fragments.get(name);
      if (known !== undefined) return known;
      // A fragment that contains itself is refused by another rule.
      fragments.set(name, 0);
      const fragment = context.getFragment(name);
      const cost = fragment == null ? 0 : costOf(fragment.selectionSet);
      fragments.set(name, cost);
      return cost;
    };
    const costOf = ({selections}: SelectionSetNode): number =>
      selections.reduce((sum, selection) => {
        if (selection.kind === Kind.FIELD) return sum + costOfField(selection);
        if (selection.kind === Kind.FRAGMENT_SPREAD) return sum + costOfFragment(selection.name.value);
        return sum + costOf(selection.selectionSet);
      }, 0);
    return {
      OperationDefinition(node) {
        const cost = costOf(node.selectionSet);
        if (cost <= maxCost) return;
        context.reportError(
          new GraphQLError(`The query costs ${cost}, which exceeds the maximum cost of ${maxCost}.`, {
            nodes: [node],
            extensions: {code: 'MAX_COST_EXCEEDED', cost, maxCost},
          }),
        );
      },
    };
  };
}
