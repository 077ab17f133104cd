import {type PathKey, pathFields, type Verdict} from '../../journal/journal.ts';
import {printable} from '../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {JournalCheckLine} from '../../output/json-output.ts';
import type {Stdout} from '../../output/stdout.ts';

/** A path as the fields of JSON output. */
export function fileFields(path: PathKey): {file: string; fileBase64?: string} {
  const {path: file, pathBase64} = pathFields(path);
  return {file, ...(pathBase64 === undefined ? {} : {fileBase64: pathBase64})};
}

export function textLine(status: string, path: PathKey, rest: string): string {
  return `${status.padEnd(8)}  ${printable(pathFields(path).path)}  ${printable(rest)}\n`;
}

/** Lines of output, written in blocks of about a thousand. */
export class Lines {
  readonly #stdout: Stdout;
  #text = '';

  constructor(stdout: Stdout) {
    this.#stdout = stdout;
  }

  async add(line: string | Uint8Array): Promise<void> {
    if (typeof line !== 'string') {
      await this.end();
      return this.#stdout.write(line);
    }
    this.#text += line;
    if (this.#text.length > 64 * 1024) await this.end();
  }

  async end(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#stdout.write(text);
  }
}

/** The numbers of all inputs, of each status, and of those whose content is also stored under another path. */
export type ProofCounts = Record<Verdict['status'] | 'all' | 'elsewhere', number>;

/** Counts verdicts, and prints all but the good ones. */
export class ProofTally {
  readonly #lines: Lines;
  readonly #json: boolean;
  readonly #counts = {all: 0, elsewhere: 0, once: 0, missing: 0, doubled: 0, unknown: 0, refused: 0};

  constructor(stdout: Stdout, json: boolean) {
    this.#lines = new Lines(stdout);
    this.#json = json;
  }

  async add({status, path, reason, ids, isElsewhere}: Verdict): Promise<void> {
    this.#counts.all += 1;
    this.#counts[status] += 1;
    if (isElsewhere) this.#counts.elsewhere += 1;
    if (status === 'once') return;
    await this.#lines.add(
      this.#json
        ? jsonLine<JournalCheckLine>({...fileFields(path), status, reason, ids})
        : textLine(status, path, ids.length === 0 ? reason : `${reason}: ${ids.join(', ')}`),
    );
  }

  async end(): Promise<ProofCounts> {
    await this.#lines.end();
    return this.#counts;
  }
}
