import type {MediaError} from '../errors.ts';
import type {Stored} from '../service/uploader.ts';
import type {FailedAttempt} from './attempt/attempt.ts';
import {overloadOf} from './attempt/retry.ts';
import type {BatchParts} from './batch-parts.ts';
import type {AttemptEnd} from './concurrency.ts';

/** What became of an attempt; `not sent`: the run ended before its turn came. */
export type TurnResult = Stored | FailedAttempt | {kind: 'not sent'; error: MediaError};

type Attempt = () => Promise<Stored | FailedAttempt>;

/** Makes attempts, each when the file may be sent, until `after` returns what became of the file. */
export async function inTurns<Ending extends object>(
  parts: BatchParts,
  {position, size}: {position: number; size: number},
  attempt: Attempt,
  after: (result: TurnResult) => Promise<Ending | undefined> | Ending,
): Promise<Ending> {
  parts.outage.begin(position);
  try {
    for (;;) {
      const ending = await after(await inTurn(parts, position, size, attempt));
      if (ending !== undefined) return ending;
    }
  } finally {
    parts.outage.finish(position);
  }
}

async function inTurn(
  {concurrency, outage}: BatchParts,
  position: number,
  size: number,
  attempt: Attempt,
): Promise<TurnResult> {
  const end = await concurrency.begin(size);
  let how: AttemptEnd = 'other';
  try {
    const error = await outage.pass(position);
    if (error !== undefined) return {kind: 'not sent', error};
    const result = await attempt();
    how = endOf(result);
    return result;
  } finally {
    end(how);
  }
}

function endOf(result: Stored | FailedAttempt): AttemptEnd {
  return result.kind === 'stored' ? 'stored' : (overloadOf(result.phase, result.failure) ?? 'other');
}
