import ora, {type Ora} from 'ora';
import type {Clock, TerminalOutput} from '../host.ts';
import {cellsOf, cutMiddle} from './cells.ts';
import {printable} from './escape.ts';
import type {Drawing} from './report.ts';
import {formatBytes, formatDuration} from './units.ts';

const narrowestName = 8;
/** Lines for files in flight, at most; the rest are counted. */
const mostFiles = 8;

export interface ProgressOptions {
  stream: TerminalOutput;
  clock: Clock;
  color: boolean;
  /** Whether there is a line for the whole batch above those of its files. */
  several: boolean;
  /** What is done so far, for that line. */
  done: () => string;
}

interface FileInFlight {
  name: string;
  size: number;
  sent: number;
  start: number;
  /** Shown instead of its progress. */
  waiting?: string;
}

/** What is being sent, how far it is and how fast it goes, drawn on a terminal. */
export class Progress implements Drawing {
  readonly #options: ProgressOptions;
  readonly #spinner: Ora;
  readonly #files = new Map<number, FileInFlight>();
  readonly #start: number;
  /** Bytes of files that are no longer in flight. */
  #sentBefore = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#start = options.clock.monotonic();
    this.#spinner = ora({
      stream: options.stream as never,
      // ora's own checks miss terminals without a width, and its frame would be coloured under NO_COLOR.
      isEnabled: true,
      color: options.color ? 'cyan' : false,
      discardStdin: false,
      // A run that is cut short by a second Ctrl-C, or killed, would leave the terminal without a cursor.
      hideCursor: false,
    } as never);
    options.stream.on('resize', this.#onResize);
  }

  started(position: number, name: string, size: number): void {
    const start = this.#options.clock.monotonic();
    this.#files.set(position, {name: printable(name), size, sent: 0, start});
    this.#show();
    if (!this.#spinner.isSpinning && this.#options.stream.columns) this.#spinner.start();
  }

  progress(position: number, sentBytes: number): void {
    const file = this.#files.get(position);
    if (file === undefined) return;
    file.sent = sentBytes;
    delete file.waiting;
    this.#show();
  }

  waiting(position: number, waitMs: number, reason: string): void {
    const file = this.#files.get(position);
    if (file === undefined) return;
    file.waiting = `next try in ${Math.ceil(waitMs / 1000)} s: ${printable(reason)}`;
    this.#show();
  }

  finished(position: number): void {
    this.#sentBefore += this.#files.get(position)?.sent ?? 0;
    this.#files.delete(position);
    if (this.#options.several) this.#show();
  }

  #show(): void {
    const {several, stream} = this.#options;
    const room = Math.max(0, (stream.columns ?? 80) - 4);
    const now = this.#options.clock.monotonic();
    const files = [...this.#files.values()];
    const lines = files.slice(0, several ? this.#linesForFiles() : 1).map(file => fileLine(file, now, room));
    if (!several) {
      this.#spinner.text = lines[0] ?? '';
      return;
    }
    const more = files.length - lines.length;
    const all = [
      this.batchLine(),
      ...lines.map(line => `  ${line}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ];
    this.#spinner.text = all.map(line => cutMiddle(line, room)).join('\n');
  }

  /** A block as tall as the terminal could not be cleared again. */
  #linesForFiles(): number {
    const rows = (this.#options.stream as {rows?: number}).rows ?? 24;
    return Math.max(0, Math.min(mostFiles, rows - 4));
  }

  /** The line of the whole batch: counts, bytes and rate. */
  batchLine(): string {
    const {clock, done} = this.#options;
    const bytes = [...this.#files.values()].reduce((sum, file) => sum + file.sent, this.#sentBefore);
    const seconds = Math.max(0.001, (clock.monotonic() - this.#start) / 1000);
    return `${done()}  ${formatBytes(bytes)}  ${formatBytes(bytes / seconds)}/s`;
  }

  clear(): void {
    this.#spinner.clear();
  }

  draw(): void {
    if (this.#spinner.isSpinning) this.#spinner.render();
  }

  stop(): void {
    this.#options.stream.off('resize', this.#onResize);
    this.#spinner.stop();
  }

  /** A terminal that lost its width can hold no line: ora would clear an infinity of them. */
  readonly #onResize = (): void => {
    if (!this.#options.stream.columns) this.#spinner.stop();
  };
}

function fileLine(file: FileInFlight, now: number, room: number): string {
  const text = file.waiting ?? progressText(file.size, file.sent, now - file.start);
  const forName = room - cellsOf(text) - 2;
  const name = forName < narrowestName ? '' : `${cutMiddle(file.name, forName)}  `;
  return cutMiddle(`${name}${text}`, room);
}

/** How far an upload is: percent, bytes, rate, and the time that is left at that rate. */
export function progressText(size: number, sent: number, elapsedMs: number): string {
  if (sent >= size) return `${formatBytes(size)} sent, waiting for the answer`;
  const share = `${Math.floor((100 * sent) / size)}%  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return share;
  const rate = sent / (elapsedMs / 1000);
  return `${share}  ${formatBytes(rate)}/s  ${formatDuration((size - sent) / rate)} left`;
}
