import {eventually} from './eventually.ts';
import type {Sandbox} from './media.ts';
import {running} from './running.ts';

/** A line of `media watch --ndjson`. */
export interface WatchLine {
  event?: string;
  directory?: string;
  file?: string;
  status?: string;
  movedTo?: string;
  deleted?: boolean;
  reason?: string;
  record?: {id: string};
  error?: {code: string};
  waiting?: number;
}

/** A running `media watch`, and what it has printed so far; it ends with the test at the latest. */
export class Watching {
  readonly #running: ReturnType<typeof running>;
  readonly #lines: WatchLine[] = [];
  #parsed = 0;

  constructor(box: Pick<Sandbox, 'start'>, parameters: readonly string[]) {
    const command = ['watch', '--settle', '20ms', ...parameters];
    this.#running = running(box, command, {timeout: 14 * 60_000});
  }

  get child(): ReturnType<Sandbox['start']> {
    return this.#running.child;
  }

  get stdout(): string {
    return this.#running.stdout();
  }

  get stderr(): string {
    return this.#running.stderr();
  }

  /** The lines so far, under `--ndjson`. */
  lines(): readonly WatchLine[] {
    const {stdout} = this;
    const end = stdout.lastIndexOf('\n') + 1;
    for (const line of stdout.slice(this.#parsed, end).split('\n').slice(0, -1))
      this.#lines.push(JSON.parse(line));
    this.#parsed = end;
    return this.#lines;
  }

  /** What it has said last, for a person who looks for why it does not go on. */
  get lastWords(): {stdout: string[]; stderr: string[]} {
    const lastOf = (text: string) => text.split('\n').slice(-30);
    return {stdout: lastOf(this.stdout), stderr: lastOf(this.stderr)};
  }

  /** The first line, from this one on, that has these values. */
  line(wanted: WatchLine, from = 0): Promise<WatchLine> {
    const fits = (line: WatchLine) =>
      Object.entries(wanted).every(([name, value]) => line[name as keyof WatchLine] === value);
    return eventually(() => this.lines().slice(from).find(fits), {state: () => this.lastWords});
  }
}
