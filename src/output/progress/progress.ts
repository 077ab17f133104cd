import ora, {type Ora} from 'ora';
import type {Clock, TerminalOutput} from '../../host.ts';
import {cutEnd} from '../cells.ts';
import type {Drawing} from '../report.ts';
import type {Meter} from './meter.ts';
import {batchLines, type Counts, fileLine} from './progress-lines.ts';

/** Lines for files in flight, at most; the rest are counted. */
const mostFiles = 8;
/** Lines of the block that are not for files: the batch's, its counts, how many more, and the cursor's. */
const otherLines = 4;
/** How often what is drawn is composed anew, however often something happens. */
const composeMs = 100;

export interface ProgressOptions {
  stream: TerminalOutput;
  clock: Clock;
  color: boolean;
  meter: Meter;
  /** Whether there are lines for the whole batch above those of its files. */
  several: boolean;
  /** What became of the files so far, for those lines. */
  counts: () => Counts;
}

/** What is being sent, how far it is and how fast it goes, drawn on a terminal. */
export class Progress implements Drawing {
  readonly #options: ProgressOptions;
  readonly #spinner: Ora;
  readonly #stopComposing: () => void;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#spinner = ora({
      stream: options.stream,
      // ora's own checks miss terminals without a width, and its frame would be coloured under NO_COLOR.
      isEnabled: true,
      color: options.color ? 'cyan' : false,
      discardStdin: false,
      // A run that is cut short by a second Ctrl-C, or killed, would leave the terminal without a cursor.
      hideCursor: false,
    });
    options.stream.on('resize', this.#onResize);
    this.#stopComposing = options.clock.every(composeMs, () => this.#compose());
  }

  /** Begins to draw, at the first file. */
  start(): void {
    if (this.#spinner.isSpinning || !this.#options.stream.columns) return;
    this.#compose();
    this.#spinner.start();
  }

  #compose(): void {
    const {several, stream} = this.#options;
    // Two cells for the spinner, and one so that no line wraps.
    const room = Math.max(0, (stream.columns ?? 80) - 3);
    const lines = several ? this.#batchLines(room) : this.#fileLines(room, 1);
    // One file in the pause between its attempts and its answer keeps the line it had.
    if (lines.length > 0) this.#spinner.text = lines.join('\n');
  }

  #batchLines(room: number): string[] {
    const {meter, counts} = this.#options;
    const files = this.#fileLines(room - 2, this.#linesForFiles());
    const more = meter.filesInFlight - files.length;
    return [
      ...batchLines(meter.standing(), counts(), room),
      ...files.map(line => `  ${line}`),
      ...(more > 0 ? [`  ${cutEnd(`and ${more} more`, room - 2)}`] : []),
    ];
  }

  #fileLines(room: number, most: number): string[] {
    const now = this.#options.clock.monotonic();
    const lines: string[] = [];
    for (const file of this.#options.meter.inFlight) {
      if (lines.length >= most) break;
      lines.push(fileLine(file, now, room));
    }
    return lines;
  }

  /** A block as tall as the terminal could not be cleared again. */
  #linesForFiles(): number {
    const rows = (this.#options.stream as {rows?: number}).rows ?? 24;
    return Math.max(0, Math.min(mostFiles, rows - otherLines));
  }

  clear(): void {
    this.#spinner.clear();
  }

  draw(): void {
    if (this.#spinner.isSpinning) this.#spinner.render();
  }

  stop(): void {
    this.#stopComposing();
    this.#options.stream.off('resize', this.#onResize);
    this.#spinner.stop();
  }

  /** A terminal that lost its width can hold no line: ora would clear an infinity of them. */
  readonly #onResize = (): void => {
    if (this.#options.stream.columns) this.#compose();
    else this.#spinner.stop();
  };
}
