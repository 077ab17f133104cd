import {MediaError} from '../../errors.ts';
import type {Clock, TerminalOutput} from '../../host.ts';
import {systemCode, systemReason} from '../../lib/system-code.ts';

/** How long a run that is stopped waits for a reader of its output that reads nothing, in milliseconds. */
const readerPatienceMs = 50;

/** Standard output that survives its reader: EPIPE ends it silently, any other reason is kept in `failure`. */
export class Stdout {
  readonly stream: TerminalOutput;
  /** Resolves with the reason when nothing can be written any more. */
  readonly ended: Promise<MediaError>;
  /** Set by what has reported the failure before the end of the run. */
  isReported = false;
  /** Whether all further output is dropped. */
  hasEnded = false;
  /** Why the output is incomplete, unless its reader has just ended. */
  failure: MediaError | undefined;
  #resolveEnded: (reason: MediaError) => void = () => {};
  /** Resolves the writes that wait for the reader. */
  readonly #waiting = new Set<() => void>();
  /** Set once the run ends: from then on, a reader that reads nothing is not waited for. */
  #hurryClock: Clock | undefined;

  constructor(stream: TerminalOutput) {
    this.stream = stream;
    this.ended = new Promise(resolve => {
      this.#resolveEnded = resolve;
    });
    stream.on('error', error => this.#end(error));
  }

  /** Resolves when the text has been passed to the system, or is no longer waited for; never rejects. */
  write(text: string | Uint8Array): Promise<void> {
    if (this.hasEnded || text.length === 0) return Promise.resolve();
    return new Promise(resolve => {
      const done = () => {
        this.#waiting.delete(done);
        resolve();
      };
      this.#waiting.add(done);
      this.stream.write(text, error => {
        if (error) this.#end(error);
        done();
      });
      this.#limit(done);
    });
  }

  /** From now on, drops all output once the reader has read nothing for 50 ms. */
  hurry(clock: Clock): void {
    this.#hurryClock = clock;
    for (const done of this.#waiting) this.#limit(done);
  }

  /** Once hurry() was called: drops all output if the write that `done` resolves is still pending after 50 ms. */
  #limit(done: () => void): void {
    this.#hurryClock?.after(readerPatienceMs, () => {
      if (!this.#waiting.has(done)) return;
      this.hasEnded = true;
      this.failure ??= new MediaError('output_failed', 'The output is incomplete: nothing reads it.');
      for (const each of this.#waiting) each();
    });
  }

  /** Drops all further output after an error of the stream. A reader that has gone is not a failure. */
  #end(error: unknown): void {
    this.hasEnded = true;
    const isReaderGone = systemCode(error) === 'EPIPE';
    const reason = isReaderGone ? 'nothing reads it any more' : systemReason(error);
    const sentence = `The output could not be written: ${reason}.`;
    const failure = new MediaError('output_failed', sentence, {cause: error});
    if (!isReaderGone) this.failure ??= failure;
    this.#resolveEnded(this.failure ?? failure);
  }
}
