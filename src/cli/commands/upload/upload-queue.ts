import type {Source} from '../../../engine/sources/open/source.ts';
import type {TransferObserver} from '../../../engine/transfer/batch.ts';
import {
  type LeftOut,
  type Outcome,
  type UploadResult,
  unrecordedOf,
  withHints,
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

type Result = UploadResult | LeftOut;

/** How a queue differs from one run of `media upload`. */
export interface QueueOptions {
  flags: Partial<UploadFlags>;
  /** Called with the time since which the service is unavailable; with undefined when it is back, or was never away. */
  onUnavailable: TransferObserver['unavailable'];
  /** Awaited while the service is open, before add() returns the result; if this rejects, add() rejects too. */
  beforeEnd: (result: Result, session: Session | undefined) => Promise<void> | undefined;
}

/** A file that was added, with the promise of its result. */
interface QueuedFile {
  source: Source;
  resolve: (result: Result) => void;
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
  /** The files that no batch has taken yet. */
  readonly #waiting: QueuedFile[] = [];
  /** The files of the batch whose result is not known yet, by position. */
  readonly #pending = new Map<number, QueuedFile>();
  #running: Promise<void> | undefined;
  /** Whether the batch takes no more files. */
  #isOver = false;
  /** Makes a batch that waits for a file look again whether there is one, or whether it is over. */
  #wake = () => {};

  constructor(invocation: Invocation, options: QueueOptions) {
    this.#invocation = invocation;
    this.#options = options;
    this.#flags = {...uploadDefaults, once: true, ...options.flags, inputs: []};
  }

  /** Uploads a file; rejects if the service or the journal cannot be opened. */
  add(source: Source): Promise<Result> {
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
      // The commands with a queue have no --no-once.
      const face = commandLine();
      const withoutOption = {...face, command: {...face.command, uploadWithoutOnce: '.'}};
      const failed = [...this.#pending.values(), ...this.#waiting.splice(0)];
      this.#pending.clear();
      for (const {reject} of failed) reject(asMediaError(error).inWordsOf(withoutOption));
    }
  }

  /** Uploads one batch; rejects with why it was stopped, if it was. */
  async #upload(resources: Resources): Promise<void> {
    const {uploadBatch} = await import('../../../engine/transfer/batch.ts');
    const {errorWriter} = await import('../../hints/key-hints.ts');
    const {session} = resources;
    const {report} = this.#invocation;
    let isAway = false;
    const observer: TransferObserver = {
      started() {},
      progress() {},
      finished() {},
      retrying(_position, name, error) {
        report.trace(`${name}: ${error.message}`);
        report.causes(error);
      },
      unavailable: since => {
        isAway = since !== undefined;
        this.#options.onUnavailable(since);
      },
      warning: (name, message) => report.warning(`${name}: ${message}`),
    };
    const options = transferOptions(this.#flags, resources, this.#invocation, {
      contentType: await typeDecision(this.#flags),
      observer,
      stop: this.#stop,
      several: true,
      waitsForNetwork: true,
    });
    const words = runOptions(this.#invocation, this.#flags);
    let ends = Promise.resolve();
    for await (const outcome of uploadBatch(this.#sources(), options)) {
      // The batch before this one may have ended while it waited for the service.
      if (outcome.status === 'uploaded' && !isAway) this.#options.onUnavailable(undefined);
      const result =
        outcome.status === 'left out'
          ? outcome
          : withHints(withReason(outcome), errorWriter(outcome, session?.settings, words, {}));
      const end = this.#options.beforeEnd(result, session)?.then(
        () => this.#finish(result),
        error => this.#finish(result, error),
      );
      if (end === undefined) this.#finish(result);
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
        await this.#nextFile();
        continue;
      }
      this.#pending.set(position, file);
      position += 1;
      yield file.source;
    }
  }

  /** Resolves when there may be another file; ends the batch when nothing has happened for a while. */
  #nextFile(): Promise<void> {
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
  #finish(result: Result, failure?: unknown): void {
    const file = this.#pending.get(result.position);
    this.#pending.delete(result.position);
    if (result.status !== 'left out' && endsBatch(result)) this.#isOver = true;
    if (this.#pending.size === 0 || this.#isOver) this.#wake();
    if (failure === undefined) file?.resolve(result);
    else file?.reject(failure);
  }
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
