import ora, {type Ora} from 'ora';
import type {Host} from '../../../host.ts';
import {printable} from '../../../lib/printable.ts';
import {formatBytes, formatDuration} from '../../../lib/units.ts';
import {cellsOf, cutEnd, cutMiddle} from '../cells.ts';
import {isAscii, mayColor, wrapsAgain} from '../terminal.ts';
import {
  type FileInFlight,
  filesText,
  type Meter,
  standingPercent,
  standingText,
  unavailableText,
} from './meter.ts';

/** The most lines for files; further files are counted. */
const mostFiles = 8;
/** Lines that are not for files: the batch, its counts, an outage, the number of further files, and the cursor. */
const otherLines = 5;
/** How often the drawing is updated. */
const composeMs = 100;

/** Moves the cursor to the line above, and clears that. */
const lineAbove = '\u001b[1A\u001b[2K';

interface ProgressView {
  meter: Meter;
  /** Whether to draw lines for the whole batch above those of its files. */
  several: boolean;
  /** The summary of the results so far, for those lines. */
  summary: () => string;
}

type DrawingHost = Pick<Host, 'stderr' | 'env' | 'clock' | 'isInBackground'>;

/** Draws on a terminal what is being sent, how far it is and how fast. */
export class Progress {
  readonly #host: DrawingHost;
  readonly #state: ProgressView;
  readonly #spinner: Ora;
  readonly #stopComposing: () => void;
  #isStarted = false;

  constructor(host: DrawingHost, state: ProgressView) {
    this.#host = host;
    this.#state = state;
    const {stderr: stream, env, clock} = host;
    this.#spinner = ora({
      stream,
      // ora does not check for terminals without a width, and ignores NO_COLOR.
      isEnabled: true,
      color: mayColor(stream, env) ? 'cyan' : false,
      ...(isAscii(env) && {spinner: 'line'}),
      discardStdin: false,
      // If the run is killed, or ended by a second Ctrl-C, the terminal would be left without a cursor.
      hideCursor: false,
    });
    // At each frame: the shell may move the program to the background, where drawing would overwrite its prompt.
    Object.defineProperty(this.#spinner, 'isEnabled', {get: () => !host.isInBackground()});
    stream.on('resize', this.#onResize);
    this.#stopComposing = clock.every(composeMs, () => this.#compose());
  }

  /** Starts to draw. */
  start(): void {
    this.#isStarted = true;
    this.#compose();
  }

  /** Updates the text; the first call after start() starts the spinner, unless the program is in the background. */
  #compose(): void {
    // Two cells are for the spinner, and one is left so that no line wraps.
    const room = Math.max(0, (this.#host.stderr.columns ?? 80) - 3);
    const lines = this.#state.several ? this.#batchLines(room) : this.#fileLines(room, 1);
    // Without a file in flight, the last lines stay.
    if (lines.length === 0) return;
    const text = lines.join('\n');
    this.#spinner.text = isAscii(this.#host.env) ? text.replaceAll('…', '~') : text;
    const mayDraw = this.#host.stderr.columns && !this.#host.isInBackground();
    if (this.#isStarted && mayDraw && !this.#spinner.isSpinning) this.#spinner.start();
  }

  /** The lines for a batch and its files, each of at most `room` cells. */
  #batchLines(room: number): string[] {
    const standing = this.#state.meter.snapshot();
    const percent = standingPercent(standing);
    const unavailable = unavailableText(standing);
    // A drawing as high as the terminal could not be cleared.
    const rows = (this.#host.stderr as {rows?: number}).rows ?? 24;
    const files = this.#fileLines(room - 2, Math.max(0, Math.min(mostFiles, rows - otherLines)));
    const more = this.#state.meter.inFlight.length - files.length;
    const below = [
      `${filesText(standing)}: ${this.#state.summary()}`,
      ...(unavailable === '' ? [] : [unavailable]),
      ...files,
      ...(more > 0 ? [`and ${more} more`] : []),
    ];
    return [
      cutEnd(`${percent === undefined ? '' : `${percent}%  `}${standingText(standing)}`, room),
      ...below.map(line => `  ${cutEnd(line, room - 2)}`),
    ];
  }

  /** The lines for the first files in flight, at most `most`, each of at most `room` cells. */
  #fileLines(room: number, most: number): string[] {
    const now = this.#host.clock.monotonic();
    const files = this.#state.meter.inFlight.slice(0, most);
    return files.map(file => fileLine(file, now, room));
  }

  clear(): void {
    this.#spinner.clear();
  }

  draw(): void {
    if (this.#spinner.isSpinning) this.#spinner.render();
  }

  stop(): void {
    this.#stopComposing();
    this.#host.stderr.off('resize', this.#onResize);
    this.#spinner.stop();
  }

  /** On a terminal without a width, ora would try to clear infinitely many lines. */
  readonly #onResize = (): void => {
    const {columns} = this.#host.stderr;
    if (!columns) {
      this.#spinner.stop();
      return;
    }
    if (this.#spinner.isSpinning && wrapsAgain(this.#host.env)) this.#clearFrame(columns);
    this.#compose();
  };

  /** Clears what ora has drawn, in the lines that a terminal which became narrower has wrapped it into. */
  #clearFrame(columns: number): void {
    const frame = `- ${this.#spinner.text}`.split('\n');
    const more = frame.reduce((sum, line) => sum + Math.max(0, Math.ceil(cellsOf(line) / columns) - 1), 0);
    this.#spinner.clear();
    this.#host.stderr.write(`${lineAbove.repeat(more)}\r`);
  }
}

/** The least cells for a name; it gets a third of the line if that is more. */
const narrowestName = 18;

/** The line for a file, of at most `room` cells: its name, and its progress or why it waits. */
function fileLine(file: FileInFlight, now: number, room: number): string {
  const text = fileText(file, now);
  const forName = Math.max(narrowestName, Math.floor(room / 3), room - cellsOf(text) - 2);
  return cutEnd(`${cutMiddle(printable(file.name), forName)}  ${text}`, room);
}

function fileText({size, sent, start, waiting}: FileInFlight, now: number): string {
  if (waiting === undefined) return progressText(size, sent, now - start);
  const {until, why} = waiting;
  const seconds = until === undefined ? 0 : Math.ceil((until - now) / 1000);
  const next = seconds > 0 ? `next try in ${seconds} s` : 'trying again';
  return `${until === undefined ? 'waiting for the service' : next}: ${printable(why)}`;
}

/** The progress of an upload: percent, bytes, rate and time left. */
export function progressText(size: number, sent: number, elapsedMs: number): string {
  if (sent >= size) return `100%  ${formatBytes(size)} sent, waiting for the response`;
  const share = `${Math.floor((100 * sent) / size)}%  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return share;
  const rate = sent / (elapsedMs / 1000);
  return `${share}  ${formatBytes(rate)}/s  ${formatDuration((size - sent) / rate)} left`;
}
