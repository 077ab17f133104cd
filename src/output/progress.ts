import ora, {type Ora} from 'ora';
import type {Clock, TerminalOutput} from '../host.ts';
import {cellsOf, cutMiddle} from './cells.ts';
import {printable} from './escape.ts';
import type {Drawing} from './report.ts';

const narrowestName = 8;

/** A spinner with what is being sent, how far it is and how fast it goes; for terminals only. */
export class Progress implements Drawing {
  readonly #stream: TerminalOutput;
  readonly #clock: Clock;
  readonly #spinner: Ora;
  #name = '';
  #size = 0;
  #start = 0;

  constructor(stream: TerminalOutput, clock: Clock, color: boolean) {
    this.#stream = stream;
    this.#clock = clock;
    this.#spinner = ora({
      stream: stream as never,
      // ora's own checks miss terminals without a width, and its frame would be coloured under NO_COLOR.
      isEnabled: true,
      color: color ? 'cyan' : false,
      discardStdin: false,
      // A run that is cut short by a second Ctrl-C, or killed, would leave the terminal without a cursor.
      hideCursor: false,
    } as never);
    stream.on('resize', this.#onResize);
  }

  started(name: string, size: number): void {
    this.#name = name;
    this.#size = size;
    this.#start = this.#clock.monotonic();
    this.progress(0);
    if (!this.#spinner.isSpinning && this.#stream.columns) this.#spinner.start();
  }

  progress(sentBytes: number): void {
    const elapsedMs = this.#clock.monotonic() - this.#start;
    this.#show(progressText(this.#size, sentBytes, elapsedMs));
  }

  waiting(waitMs: number, reason: string): void {
    this.#show(`next try in ${Math.ceil(waitMs / 1000)} s: ${printable(reason)}`);
  }

  #show(text: string): void {
    const room = Math.max(0, (this.#stream.columns ?? 80) - 4);
    const forName = room - cellsOf(text) - 2;
    const name = forName < narrowestName ? '' : `${cutMiddle(printable(this.#name), forName)}  `;
    this.#spinner.text = cutMiddle(`${name}${text}`, room);
  }

  clear(): void {
    this.#spinner.clear();
  }

  draw(): void {
    if (this.#spinner.isSpinning) this.#spinner.render();
  }

  stop(): void {
    this.#stream.off('resize', this.#onResize);
    this.#spinner.stop();
  }

  /** A terminal that lost its width can hold no line: ora would clear an infinity of them. */
  readonly #onResize = (): void => {
    if (!this.#stream.columns) this.#spinner.stop();
  };
}

/** How far an upload is: percent, bytes, rate, and the time that is left at that rate. */
export function progressText(size: number, sent: number, elapsedMs: number): string {
  if (sent >= size) return `${formatBytes(size)} sent, waiting for the answer`;
  const share = `${Math.floor((100 * sent) / size)}%  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return share;
  const rate = sent / (elapsedMs / 1000);
  return `${share}  ${formatBytes(rate)}/s  ${formatDuration((size - sent) / rate)} left`;
}

/** Bytes with a binary unit: 999 B, 1.0 KiB, 23.4 MiB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${units[unit]}`;
}

function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
  return `${Math.floor(whole / 3600)}h${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}m`;
}
