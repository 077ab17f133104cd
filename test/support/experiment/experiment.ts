import {randomInt} from 'node:crypto';
import {inject, type TestContext, test} from 'vitest';
import {expect, waitingTest} from '../after-test.ts';
import {notRun} from '../installed.ts';
import {slowTest} from '../patience.ts';
import {seededRandom} from '../seeded.ts';

/** How much is tried: `short` in `npm run test:all` and under `SCALE=short npm run torture`, `long` under `npm run torture`. */
export type Scale = 'short' | 'long';

/** What an experiment found: how often something was tried and how often the promise held. */
export interface Findings {
  tried: number;
  held: number;
  /** What broke, a line each; the first ones are printed. */
  broken?: readonly string[];
  /** Further figures for the table, as in "12 % needless unknown". */
  note?: string;
}

export interface Trial {
  scale: Scale;
  /** A number in [0, 1), from the seed that the table prints. */
  random: () => number;
}

type Experiment = (trial: Trial) => Promise<Findings>;

declare module 'vitest' {
  interface ProvidedContext {
    scale: Scale;
    seed: number;
    /** Whether this is `npm run torture`, in its short or its long form, and not `npm run test:all`. */
    isTorture: boolean;
  }
  interface TaskMeta {
    findings?: Findings & {seed: number};
  }
}

/**
 * Declares an experiment: a row of the table that `npm run torture` prints, and a test that fails unless all held. Where
 * this machine lacks something that it needs, `missing` says what, and it is skipped.
 */
export function experiment(name: string, run: Experiment, missing?: string): void {
  test(name, inject('scale') === 'long' ? {timeout: 14 * 60_000} : slowTest, asTest(run, missing));
}

/** An experiment that mostly waits: in the short form, those that follow each other in a file are made at the same time. */
export function waitingExperiment(name: string, run: Experiment, missing?: string): void {
  if (inject('scale') === 'long') experiment(name, run, missing);
  else waitingTest(name, asTest(run, missing));
}

function asTest(run: Experiment, missing: string | undefined): (context: TestContext) => Promise<void> {
  return async context => {
    if (missing !== undefined) notRun(context, missing);
    const seed = inject('seed') || randomInt(1, 2 ** 31);
    const findings = await run({scale: inject('scale'), random: seededRandom(seed)});
    context.task.meta.findings = {...findings, seed};
    const broken = findings.broken?.slice(0, 20) ?? [];
    expect(broken, `seed ${seed}: ${broken.join('\n')}`).toEqual([]);
    expect(findings.held, `seed ${seed}`).toBe(findings.tried);
    expect(findings.tried).toBeGreaterThan(0);
  };
}

/** Why an experiment is not made in `npm run test:all`: another test, of this name, notices the same there and takes less time. */
export function onlyTorture(heldBy: string): string | undefined {
  return inject('isTorture') ? undefined : `only under npm run torture; here ${heldBy}`;
}

/** Why an experiment that takes long is not made in its short form. */
export function onlyLong(): string | undefined {
  return inject('scale') === 'short' ? 'only in the long form' : undefined;
}
