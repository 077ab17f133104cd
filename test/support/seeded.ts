export {seededRandom} from '../../src/lib/seeded.ts';

/** This many of the items, selected at random, in their order. */
export function someOf<Item>(items: readonly Item[], count: number, random: () => number): Item[] {
  const left = items.map((_, index) => index);
  while (left.length > count) left.splice(Math.floor(random() * left.length), 1);
  return left.map(index => items[index] as Item);
}
