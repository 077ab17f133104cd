import {randomInt} from 'node:crypto';
import fc from 'fast-check';
import {inject, test} from 'vitest';
import {slowTest} from './patience.ts';

/**
 * Declares a test that a property holds for 150 values, or as many as `usually` says, always the same; for seven times
 * as many others in the short form of `npm run torture` and for 10,000 in its long one. A failure prints the smallest
 * counterexample and the seed.
 */
export function holdsFor<Values extends [unknown, ...unknown[]]>(
  name: string,
  values: {[Index in keyof Values]: fc.Arbitrary<Values[Index]>},
  check: (...values: Values) => void | Promise<void>,
  usually = 150,
): void {
  const numRuns = inject('scale') === 'long' ? 10_000 : inject('isTorture') ? 7 * usually : usually;
  test(name, slowTest, async ({task}) => {
    const seed = inject('seed') || randomInt(1, 2 ** 31);
    await fc.assert(
      fc.asyncProperty(...(values as [fc.Arbitrary<unknown>]), async (...drawn: unknown[]) => {
        await check(...(drawn as Values));
      }),
      {numRuns, seed},
    );
    task.meta.findings = {tried: numRuns, held: numRuns, seed};
  });
}

/** fast-check's own unit for this takes 110 MB and a second to create, in each process. */
const codePoint = fc
  .integer({min: 0, max: 0x10_ff_ff})
  .filter(value => value < 0xd8_00 || value > 0xdf_ff)
  .map(value => String.fromCodePoint(value));

/** Text with all kinds of difficult characters. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({unit: codePoint}),
  fc.string({
    unit: fc.constantFrom(
      ...'ab1 .,:;#[]=+-@"\'\\/|*_`<>()!$^&~%{}?\n\r\t\0\u001b\u007f\u009b\u202e\u2066\u2028\ufeff\ud83d\ude00é\uff1d',
    ),
    maxLength: 40,
  }),
);
