import {MediaError} from '../errors.ts';
import type {Uploader} from '../service/uploader.ts';
import type {Source} from '../sources/open/source.ts';
import {RateLimit} from './attempt/rate-limit.ts';
import {RetryBudget} from './attempt/retry.ts';
import {AdaptiveConcurrency, fixedConcurrency, safeConcurrency} from './concurrency.ts';
import {Ending, Halt} from './ending.ts';
import {type BatchState, FileTransfer} from './file-transfer.ts';
import type {TransferOptions} from './options.ts';
import {comparisonOf, type LeftOut, type Outcome, sizeWarning} from './outcome.ts';
import {Gate, withRetryAfter} from './waiting/gate.ts';
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
  options: TransferOptions,
): AsyncIterableIterator<Outcome | LeftOut> {
  const batch = new Batch(options);
  return mapConcurrently(
    sources,
    batch.state.concurrency,
    source => batch.transfer(source),
    () => options.stop.reason?.code === 'interrupted',
    () => batch.end(),
  );
}

class Batch {
  readonly #options: TransferOptions;
  readonly state: BatchState;
  readonly #onStop = () => this.state.outage.abandon(this.#options.stop.reason);
  /** The position of the next source. */
  #next = 0;

  constructor(options: TransferOptions) {
    const {clock, random, host, retries, retryMaxWaitMs, several, limitRate, observer, stop} = options;
    const shared = {clock, random, gate: new Gate(clock), retryMaxWaitMs};
    const uploader = withRetryAfter(options.uploader, {...shared, retries});
    this.#options = {...options, uploader: this.#untilHalted(uploader)};
    const {concurrency: option} = options;
    // Without retries, a file that is refused for being one too many is lost: no higher limit is tried.
    const mostOf = (most: number) => (retries === 0 ? Math.min(safeConcurrency, most) : most);
    const concurrency =
      typeof option === 'number'
        ? fixedConcurrency(option)
        : new AdaptiveConcurrency(clock, mostOf(option.most));
    const halt = new Halt();
    const outage = new Outage({
      ...{...shared, host, concurrency},
      // A single file relies on its retries.
      probe: several ? options.uploader.probeAvailability?.bind(options.uploader) : undefined,
      onChange: since => observer.unavailable(since),
      onEnd: error => halt.abort(error),
    });
    this.state = {
      concurrency,
      budget: new RetryBudget(),
      outage,
      descriptors: new Descriptors(),
      halt,
      rateLimit: limitRate === undefined ? undefined : new RateLimit(limitRate, clock),
    };
    halt.addEventListener('abort', () => outage.abandon());
    stop.addEventListener('abort', this.#onStop, {once: true});
    if (stop.aborted) this.#onStop();
  }

  /** Forgets the signal that may stop it, which lives on under `media watch`. */
  end(): void {
    this.#options.stop.removeEventListener('abort', this.#onStop);
  }

  /** An uploader that begins no attempt once the batch has ended: with a bad key, even one more would be too many. */
  #untilHalted(uploader: Uploader): Uploader {
    return {
      upload: async request => {
        const why = this.state.halt.reason;
        if (why === undefined) return uploader.upload(request);
        const sentence = `The file was not tried again: the run had ended (${why.code}).`;
        throw new MediaError('not_tried', sentence, {cause: why});
      },
    };
  }

  async transfer(source: Source): Promise<PendingResult<Outcome | LeftOut>> {
    const position = this.#next;
    this.#next += 1;
    const end = this.state.halt.reason ?? this.#options.stop.reason;
    if (end !== undefined)
      return {result: new Ending(position, source, this.#options, this.state.halt).notTried(end)};
    const file = new FileTransfer(position, source, this.#options, this.state);
    const {result} = await this.state.descriptors.use(() => file.run());
    return {result: result.then(outcome => this.#compared(outcome))};
  }

  /** The outcome with what `verify` says of its record; without that, only a different size is a warning. */
  #compared(outcome: Outcome | LeftOut): Outcome | LeftOut {
    if (outcome.status === 'left out') return outcome;
    const {mode} = this.#options.verify ?? {};
    const {verified, error} = (mode && comparisonOf(outcome)) ?? {};
    const known = verified === undefined ? outcome : {...outcome, verified};
    if (error !== undefined && mode === 'strict' && 'received' in known)
      return {...known, status: 'mismatched', error};
    const found = mode === undefined ? sizeWarning(outcome) : error?.message;
    if (found === undefined) return known;
    this.#options.observer.warning(outcome.name, found);
    return {...known, warning: outcome.warning === undefined ? found : `${outcome.warning} ${found}`};
  }
}
