import type {Source} from '../../../engine/sources/open/source.ts';
import type {TransferObserver} from '../../../engine/transfer/batch.ts';
import {
  type LeftOut,
  type Outcome,
  type UploadResult,
  unrecordedOf,
} from '../../../engine/transfer/outcome.ts';
import {exitStatusOf, MediaError} from '../../../errors.ts';
import {Stop} from '../../../lib/stop.ts';
import {commandLine, runOptions} from '../../hints/command-line.ts';
import {asMediaError} from '../../output/report.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {Session} from '../../session/session.ts';
import {type UploadFlags, uploadDefaults} from './flags.ts';
import {typeDecision} from './open-inputs.ts';
import {closeResources, openResources, type Resources, transferOptions} from './resources.ts';

/** How a queue differs from one run of `media upload`. */
export interface QueueOptions {
  flags: Partial<UploadFlags>;
  /** Called with the time since which the service is unavailable; with undefined when it is back, or was never away. */
  onUnavailable: TransferObserver['unavailable'];
  /** Awaited while the service is open, before add() returns the outcome; if this rejects, add() rejects too. */
  beforeEnd: (outcome: UploadResult | LeftOut, session: Session | undefined) => Promise<void> | undefined;
}

/** A file that was added, with the promise of its outcome. */
interface QueuedFile {
  source: Source;
  resolve: (outcome: UploadResult | LeftOut) => void;
  reject: (error: unknown) => void;
}

/** How long a queue without files keeps the service and the journal open, in milliseconds. */
const idleMs = 2_000;

/**
 * Uploads the files of a command that runs for a long time, as they are added, and waits while the service is
 * unavailable. The service and this machine's journal are opened for the first file and closed after 2 s without one,
 * so that other runs get the journal, and a new key or other settings count from then on.
 */
export class UploadQueue {
  readonly #invocation: Invocation;
  readonly #flags: UploadFlags;
  readonly #options: QueueOptions;
  readonly #stop = new Stop<MediaError>();
  readonly #waiting: QueuedFile[] = [];
  /** The files of the batch whose outcome is not known yet, by position. */
  readonly #pending = new Map<number, QueuedFile>();
  #running: Promise<void> | undefined;
  /** Whether the batch takes no more files. */
  #isOver = false;
  #wake = () => {};

  constructor(invocation: Invocation, options: QueueOptions) {
    this.#invocation = invocation;
    this.#options = options;
    this.#flags = {...uploadDefaults, once: true, ...options.flags, inputs: []};
  }

  /** Uploads a file; rejects if the service or the journal cannot be opened. */
  add(source: Source): Promise<UploadResult | LeftOut> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({source, resolve, reject});
      this.#wake();
      this.#start();
    });
  }

  /** Sends nothing more. Resolves when all complete uploads have their responses, and everything is closed. */
  async stop(why: MediaError): Promise<void> {
    this.#stop.abort(why);
    this.#wake();
    await this.#running;
  }

  /** Begins a batch unless a batch is running; files that it no longer takes get the next batch. */
  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#start();
    });
  }

  /** Uploads the waiting files, and those added meanwhile, as one batch, until the queue is idle for a while. */
  async #run(): Promise<void> {
    this.#isOver = false;
    try {
      this.#stop.throwIfAborted();
      const resources = await openResources(this.#flags, this.#invocation, undefined, this.#stop);
      await this.#upload(resources).finally(() => closeResources(resources));
    } catch (error) {
      this.#fail(withoutChoice(error));
    }
  }

  /** Rejects with why the batch was stopped, if it was. */
  async #upload(resources: Resources): Promise<void> {
    const {uploadBatch} = await import('../../../engine/transfer/batch.ts');
    const {errorWriter, withHints} = await import('../../hints/key-hints.ts');
    let isAway = false;
    const onUnavailable = (since: number | undefined) => {
      isAway = since !== undefined;
      this.#options.onUnavailable(since);
    };
    const options = transferOptions(this.#flags, resources, this.#invocation, {
      contentType: await typeDecision(this.#flags),
      observer: this.#observer(onUnavailable),
      several: true,
      waitsForNetwork: true,
      stop: this.#stop,
    });
    const wording = runOptions(this.#invocation, this.#flags);
    const {session} = resources;
    let ends = Promise.resolve();
    for await (const result of uploadBatch(this.#sources(), options)) {
      // The batch before this one may have ended while it waited for the service.
      if (result.status === 'uploaded' && !isAway) onUnavailable(undefined);
      const outcome =
        result.status === 'left out'
          ? result
          : withHints(withReason(result), errorWriter(result, session?.settings, wording, {}));
      const end = this.#options.beforeEnd(outcome, session)?.then(
        () => this.#settle(outcome),
        error => this.#settle(outcome, error),
      );
      if (end === undefined) this.#settle(outcome);
      else ends = ends.then(() => end);
    }
    await ends;
    this.#stop.throwIfAborted();
  }

  /** The files of one batch: those that wait, as long as the batch goes on. */
  async *#sources(): AsyncGenerator<Source> {
    for (let position = 0; !this.#isOver && !this.#stop.aborted; ) {
      const file = this.#waiting.shift();
      if (file === undefined) {
        await this.#change();
        continue;
      }
      this.#pending.set(position, file);
      position += 1;
      yield file.source;
    }
  }

  /** Resolves when there may be another file; ends the batch when nothing has happened for a while. */
  #change(): Promise<void> {
    return new Promise(resolve => {
      const endWhenIdle = () => {
        this.#isOver = true;
        this.#wake();
      };
      const isIdle = this.#pending.size === 0;
      const cancel = isIdle ? this.#invocation.host.clock.after(idleMs, endWhenIdle) : () => {};
      this.#wake = () => {
        cancel();
        this.#wake = () => {};
        resolve();
      };
    });
  }

  /** Resolves or rejects the add() of a file, and ends the batch if the next file needs a new session. */
  #settle(outcome: UploadResult | LeftOut, failure?: unknown): void {
    const {position} = outcome;
    const file = this.#pending.get(position);
    this.#pending.delete(position);
    if (outcome.status !== 'left out' && endsBatch(outcome)) this.#isOver = true;
    if (this.#pending.size === 0 || this.#isOver) this.#wake();
    if (failure === undefined) file?.resolve(outcome);
    else file?.reject(failure);
  }

  /** Fails every file that waits or whose outcome is not known. */
  #fail(error: unknown): void {
    const failed = [...this.#pending.values(), ...this.#waiting.splice(0)];
    this.#pending.clear();
    for (const {reject} of failed) reject(asMediaError(error));
  }

  #observer(unavailable: TransferObserver['unavailable']): TransferObserver {
    const {report} = this.#invocation;
    return {
      started() {},
      progress() {},
      finished() {},
      retrying(_position, name, error) {
        report.trace(`${name}: ${error.message}`);
        report.causes(error);
      },
      unavailable,
      warning: (name, message) => report.warning(`${name}: ${message}`),
    };
  }
}

/** Writes the hint without --no-once, since the commands with a queue have no such option. */
function withoutChoice(error: unknown): unknown {
  const face = commandLine();
  return error instanceof MediaError
    ? error.inWordsOf({...face, command: {...face.command, uploadWithoutOnce: '.'}})
    : error;
}

/** Replaces the error of a file that was not tried by the error that ended the batch. */
function withReason(outcome: Outcome): Outcome {
  if (!('error' in outcome) || outcome.error.code !== 'not_tried') return outcome;
  const {cause} = outcome.error;
  return cause instanceof MediaError ? {...outcome, error: cause} : outcome;
}

/** Whether the next file needs a new session, because the key, the journal or the network failed. */
function endsBatch(outcome: Outcome): boolean {
  const error = 'error' in outcome ? outcome.error : unrecordedOf(outcome);
  return (
    error !== undefined &&
    (exitStatusOf[error.code] === 4 || /^(journal|outage|proxy_failed|not_http)/.test(error.code))
  );
}
