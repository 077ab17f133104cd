import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
} from 'graphql/index.js';
import {own} from '../../lib/own.ts';

/** A page of 1,000 media with all their fields costs 15,002. */
const maxCost = 20_000;

/** What a mutation costs, since it writes. */
const changeCost = 50;

const maxDepth = 15;
const maxAliases = 1_000;

/** The length of a page of media if the query does not set one. */
export const defaultPage = 20;

/** A longer document is not parsed: comparing its fields with each other would take long. */
export const maxTokens = 10_000;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** What an operation, or a part of it, amounts to. */
interface Extent {
  readonly cost: number;
  readonly depth: number;
  readonly aliases: number;
}

const nothing: Extent = {cost: 0, depth: 0, aliases: 0};

/**
 * The rule that limits an operation, its fragments included: its depth, its aliases, and its cost, which is 1 for each value
 * that a field may return, under any name; values below a list count once for each possible item.
 */
export function limits(variables: Variables): ValidationRule {
  return (context): ASTVisitor => {
    const measure = new Measure(context, variables);
    const refuse = (code: string, name: string, value: number, most: number) =>
      context.reportError(
        new GraphQLError(`The ${name} of the query is ${value}, which exceeds the maximum of ${most}.`, {
          extensions: {code, value, maximum: most},
        }),
      );
    return {
      OperationDefinition({operation, selectionSet}) {
        const {cost: reading, depth, aliases} = measure.of(selectionSet, 1);
        const isChange = operation === OperationTypeNode.MUTATION;
        const cost = reading + (isChange ? (changeCost - 1) * measure.countOf(selectionSet) : 0);
        if (cost > maxCost) refuse('MAX_COST_EXCEEDED', 'cost', cost, maxCost);
        if (depth > maxDepth) refuse('MAX_DEPTH_EXCEEDED', 'depth', depth, maxDepth);
        if (aliases > maxAliases) refuse('MAX_ALIASES_EXCEEDED', 'number of aliases', aliases, maxAliases);
      },
    };
  };
}

class Measure {
  readonly #context: ValidationContext;
  readonly #variables: Variables;
  readonly #fragments = new Map<string, Extent>();

  constructor(context: ValidationContext, variables: Variables) {
    this.#context = context;
    this.#variables = variables;
  }

  /** The extent of a selection; `length`: how many items the lists in it have at most. */
  of({selections}: SelectionSetNode, length: number): Extent {
    return selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return together(sum, this.#ofField(selection, length));
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        return together(sum, this.#ofFragment(selection.name.value, length));
      return together(sum, this.of(selection.selectionSet, length));
    }, nothing);
  }

  /** The number of fields that a selection consists of. */
  countOf({selections}: SelectionSetNode): number {
    return selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1;
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + this.countOf(selection.selectionSet);
      // A fragment costs at least as many fields as it consists of.
      return sum + this.#ofFragment(selection.name.value, 1).cost;
    }, 0);
  }

  #ofField({name, alias, arguments: given, selectionSet}: FieldNode, length: number): Extent {
    const aliases = alias === undefined ? 0 : 1;
    if (selectionSet === undefined) return {cost: 1, depth: 1, aliases};
    const first = given?.find(({name: argument}) => argument.value === 'first')?.value;
    const pageLength = name.value === 'mediaList' ? (this.#lengthOf(first) ?? defaultPage) : 1;
    const isList = name.value === 'edges' || name.value === 'nodes';
    const below = this.of(selectionSet, pageLength);
    return {
      cost: 1 + (isList ? Math.max(1, length) : 1) * below.cost,
      depth: 1 + below.depth,
      aliases: aliases + below.aliases,
    };
  }

  #ofFragment(name: string, length: number): Extent {
    const id = `${name} ${length}`;
    const known = this.#fragments.get(id);
    if (known !== undefined) return known;
    // A fragment that contains itself is refused by another rule.
    this.#fragments.set(id, nothing);
    const fragment = this.#context.getFragment(name);
    const extent = fragment == null ? nothing : this.of(fragment.selectionSet, length);
    this.#fragments.set(id, extent);
    return extent;
  }

  #lengthOf(value: ValueNode | undefined): number | undefined {
    if (value?.kind === Kind.INT) return Number(value.value);
    const given = value?.kind === Kind.VARIABLE ? own(this.#variables ?? {}, value.name.value) : undefined;
    return typeof given === 'number' ? given : undefined;
  }
}

function together(one: Extent, other: Extent): Extent {
  return {
    cost: one.cost + other.cost,
    depth: Math.max(one.depth, other.depth),
    aliases: one.aliases + other.aliases,
  };
}
