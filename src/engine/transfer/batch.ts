import type {Source} from '../sources/open/source.ts';
import {FileTransfer} from './file-transfer.ts';
import {comparisonOf, type LeftOut, type Outcome, sizeWarning} from './outcome.ts';
import {BatchAbort, OutcomeBuilder} from './outcome-builder.ts';
import {Pacing} from './pacing.ts';
import {RetryPolicy} from './retry-policy.ts';
import type {TransferOptions} from './transfer-options.ts';
import {Descriptors, mapConcurrently, type PendingResult} from './workers.ts';

export type {TransferObserver, TransferOptions} from './transfer-options.ts';

/**
 * Uploads the sources, up to `concurrency` at a time, and yields each result when it is known; the failure of one file
 * does not reject. After a signal no more sources are read; if the run ends otherwise, the remaining ones fail with
 * `not_tried`. Files that a walk leaves out are yielded as left out.
 */
export function uploadBatch(
  sources: AsyncIterable<Source> | Iterable<Source>,
  options: TransferOptions,
): AsyncIterableIterator<Outcome | LeftOut> {
  const {stop} = options;
  const batchAbort = new BatchAbort();
  const pacing = new Pacing(options, batchAbort);
  const descriptors = new Descriptors();
  const batch = {pacing, retryPolicy: new RetryPolicy(options), descriptors, batchAbort};
  const onStop = () => pacing.end(stop.reason);
  stop.addEventListener('abort', onStop, {once: true});
  if (stop.aborted) onStop();
  let count = 0;
  /** Takes one source to its result. */
  const transfer = async (source: Source): Promise<PendingResult<Outcome | LeftOut>> => {
    const position = count;
    count += 1;
    const end = batchAbort.reason ?? stop.reason;
    if (end !== undefined)
      return {result: new OutcomeBuilder(position, source, options, batchAbort).notTried(end)};
    const file = new FileTransfer(position, source, options, batch);
    const {result} = await descriptors.use(() => file.run());
    return {result: result.then(outcome => withComparison(outcome, options))};
  };
  return mapConcurrently(
    sources,
    pacing,
    transfer,
    () => stop.reason?.code === 'interrupted',
    // `media watch` uses the signal for further batches.
    () => stop.removeEventListener('abort', onStop),
  );
}

/** Adds how the record differs: as a warning, or a failure if `verify` is strict; without `verify`, only its size. */
function withComparison(outcome: Outcome | LeftOut, {verify, observer}: TransferOptions): Outcome | LeftOut {
  if (outcome.status === 'left out') return outcome;
  const {verified, error} = (verify && comparisonOf(outcome)) ?? {};
  const known = verified === undefined ? outcome : {...outcome, verified};
  if (error !== undefined && verify?.mode === 'strict' && 'record' in known)
    return {...known, status: 'mismatched', error};
  const found = verify === undefined ? sizeWarning(outcome) : error?.message;
  if (found === undefined) return known;
  observer.warning(outcome.file, found);
  return {...known, warning: outcome.warning === undefined ? found : `${outcome.warning} ${found}`};
}
