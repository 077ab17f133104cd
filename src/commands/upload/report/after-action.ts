import type {ExitStatus, Invocation} from '../../../cli/invocation.ts';
import {exitStatusOf, type MediaError} from '../../../errors.ts';
import type {LeftOut, Outcome} from '../../../transfer/outcome.ts';

/** Something that is done with the results of an upload besides printing them. */
export interface AfterAction {
  add(outcome: Outcome): void;
  /** Called for each file that a walk left out. */
  leftOut?(input: LeftOut): void;
  /** Called if the run ended early with this error. */
  failed(error: MediaError): void;
  /** Acts at the end of a run with this exit status; resolves to an error if that makes the run a failure. */
  end(status: ExitStatus): Promise<MediaError | undefined>;
}

/** Does the actions after a run, and returns its exit status; failing to report to the CI system is a failure. */
export async function withAfterActions(
  actions: readonly AfterAction[],
  invocation: Invocation,
  run: () => Promise<ExitStatus>,
): Promise<ExitStatus> {
  try {
    return await finish(actions, await run(), invocation);
  } catch (error) {
    const {asMediaError} = await import('../../../output/report.ts');
    for (const action of actions) action.failed(asMediaError(error));
    await finish(actions, 1, invocation);
    throw error;
  }
}

async function finish(
  actions: readonly AfterAction[],
  status: ExitStatus,
  {report}: Invocation,
): Promise<ExitStatus> {
  let result = status;
  for (const action of actions) {
    const failure = await action.end(status);
    if (failure === undefined) continue;
    report.failure(failure);
    if (result === 0) result = exitStatusOf[failure.code];
  }
  return result;
}
