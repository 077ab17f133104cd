import {MediaError} from '../errors.ts';
import type {Uploader} from '../service/uploader.ts';
import type {Source} from '../sources/open/source.ts';
import {RateLimit} from './attempt/rate-limit.ts';
import {AdaptiveConcurrency, fixedConcurrency, safeConcurrency} from './concurrency.ts';
import {Ending, Halt} from './ending.ts';
import {type BatchState, FileTransfer} from './file-transfer.ts';
import {KeySupport} from './key-support.ts';
import type {TransferOptions} from './options.ts';
import {comparisonOf, type LeftOut, type Outcome, sizeWarning} from './outcome.ts';
import {RetryBudget} from './retries.ts';
import {Gate} from './waiting/gate.ts';
import {Outage} from './waiting/outage.ts';
import {Descriptors, mapConcurrently, type PendingResult} from './workers.ts';

export type {TransferObserver, TransferOptions} from './options.ts';

/**
 * Uploads the sources, up to `concurrency` at a time, and yields each result when it is known; the failure of one file does
 * not reject. After a signal no more sources are read; if the run ends otherwise, the remaining ones fail with `not_tried`.
 * Files that a walk leaves out are yielded as left out.
 */
export function uploadBatch(
  sources: AsyncIterable<Source> | Iterable<Source>,
  given: TransferOptions,
): AsyncIterableIterator<Outcome | LeftOut> {
  const {stop} = given;
  const batch = stateOf(given);
  const {concurrency, descriptors, halt, outage} = batch;
  const options = {...given, uploader: guarded(given, batch)};
  const onStop = () => outage.abandon(stop.reason);
  stop.addEventListener('abort', onStop, {once: true});
  if (stop.aborted) onStop();
  /** The position of the next source. */
  let next = 0;
  const transfer = async (source: Source): Promise<PendingResult<Outcome | LeftOut>> => {
    const position = next;
    next += 1;
    const end = halt.reason ?? stop.reason;
    if (end !== undefined) return {result: new Ending(position, source, options, halt).notTried(end)};
    const file = new FileTransfer(position, source, options, batch);
    const {result} = await descriptors.use(() => file.run());
    return {result: result.then(outcome => compared(outcome, options))};
  };
  return mapConcurrently(
    sources,
    concurrency,
    transfer,
    () => stop.reason?.code === 'interrupted',
    // The signal lives on under `media watch`.
    () => stop.removeEventListener('abort', onStop),
  );
}

function stateOf(given: TransferOptions): BatchState {
  const {clock, retries, several, limitRate, observer, uploader, concurrency: option} = given;
  // Without retries, a file that is refused for being one too many is lost: no higher limit is tried.
  const mostOf = (most: number) => (retries === 0 ? Math.min(safeConcurrency, most) : most);
  const concurrency =
    typeof option === 'number'
      ? fixedConcurrency(option)
      : new AdaptiveConcurrency(clock, mostOf(option.most));
  const halt = new Halt();
  const gate = new Gate(given);
  const outage = new Outage({
    ...{...given, gate, concurrency},
    // A single file relies on its retries.
    probe: several ? uploader.probeAvailability?.bind(uploader) : undefined,
    onChange: since => observer.unavailable(since),
    onEnd: error => halt.abort(error),
  });
  halt.addEventListener('abort', () => outage.abandon());
  return {
    ...{concurrency, gate, outage, halt, budget: new RetryBudget(), descriptors: new Descriptors()},
    keys: new KeySupport(given),
    rateLimit: limitRate === undefined ? undefined : new RateLimit(limitRate, clock),
  };
}

/** An uploader that begins no attempt once the batch has ended: with a bad key, even one is too many. */
function guarded({uploader}: TransferOptions, {halt, keys}: BatchState): Uploader {
  return {
    upload: async request => {
      const why = halt.reason;
      if (why === undefined) {
        const answer = await uploader.upload(request);
        keys.learn();
        return answer;
      }
      const sentence = `The file was not tried again: the run had ended (${why.code}).`;
      throw new MediaError('not_tried', sentence, {cause: why});
    },
  };
}

/** The outcome with what `verify` says of its record; without that, only a different size is a warning. */
function compared(outcome: Outcome | LeftOut, {verify, observer}: TransferOptions): Outcome | LeftOut {
  if (outcome.status === 'left out') return outcome;
  const {verified, error} = (verify && comparisonOf(outcome)) ?? {};
  const known = verified === undefined ? outcome : {...outcome, verified};
  if (error !== undefined && verify?.mode === 'strict' && 'record' in known)
    return {...known, status: 'mismatched', error};
  const found = verify === undefined ? sizeWarning(outcome) : error?.message;
  if (found === undefined) return known;
  observer.warning(outcome.name, found);
  return {...known, warning: outcome.warning === undefined ? found : `${outcome.warning} ${found}`};
}
