import {MediaError, systemCode} from '../errors.ts';
import type {TerminalOutput} from '../host.ts';

/**
 * Standard output that survives its reader: after EPIPE, output is dropped silently; any other failure is stored in
 * `failure` and ends the output.
 */
export class Stdout {
  readonly stream: TerminalOutput;
  #ended = false;
  #failure: MediaError | undefined;

  constructor(stream: TerminalOutput) {
    this.stream = stream;
    stream.on('error', error => this.#end(error));
  }

  get failure(): MediaError | undefined {
    return this.#failure;
  }

  /** Resolves when the text has been passed to the system; never rejects. */
  write(text: string): Promise<void> {
    if (this.#ended || text === '') return Promise.resolve();
    return new Promise(resolve => {
      this.stream.write(text, error => {
        if (error) this.#end(error);
        resolve();
      });
    });
  }

  #end(error: unknown): void {
    this.#ended = true;
    if (systemCode(error) === 'EPIPE') return;
    const text = systemCode(error) === 'ENOSPC' ? 'the disk is full' : (systemCode(error) ?? String(error));
    this.#failure ??= new MediaError('output_failed', `The output could not be written: ${text}.`, {
      hint: 'What was uploaded stays uploaded; do not run it again only for its output.',
      cause: error,
    });
  }
}
