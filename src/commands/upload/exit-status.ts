import {exitStatusOf} from '../../errors.ts';
import type {Outcome} from '../../transfer/outcome.ts';

/** The exit status of a batch (cli-contract, "Exit status"): 7, then 5, 4, 3, 6, 1, and 0 when nothing failed. */
export function exitStatus(outcomes: readonly Outcome[]): number {
  const statuses = new Set(
    outcomes.map(outcome => ('error' in outcome ? exitStatusOf[outcome.error.code] : 0)),
  );
  if (outcomes.some(outcome => outcome.status === 'unknown')) statuses.add(5);
  for (const status of [7, 5, 4] as const) if (statuses.has(status)) return status;
  const failed = outcomes.some(outcome => 'error' in outcome);
  if (!failed) return 0;
  if (statuses.has(0)) return 3;
  return statuses.has(6) ? 6 : 1;
}
