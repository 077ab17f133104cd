import {type PathKey, pathFields, type Verdict} from '../../../engine/journal/journal.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {JournalCheckLine} from '../../output/json-output.ts';
import type {Stdout} from '../../output/stdout.ts';

/** A path as the fields of JSON output; `fileBase64` has its bytes if they are not UTF-8. */
export function fileFields(path: PathKey): {file: string; fileBase64?: string} {
  const {path: file, pathBase64} = pathFields(path);
  return pathBase64 === undefined ? {file} : {file, fileBase64: pathBase64};
}

/** A line for people, whose form may change; scripts have --json. */
export function textLine(status: string, path: PathKey, rest: string): string {
  return `${status.padEnd(8)}  ${printable(pathFields(path).path)}  ${printable(rest)}\n`;
}

/** Writes lines of output in blocks of 64 KiB, since a write of each line is slow; `end` writes the last block. */
export function linesTo(stdout: Stdout) {
  let text = '';
  /** Writes what was added and not written yet. */
  const end = async () => {
    const block = text;
    text = '';
    await stdout.write(block);
  };
  /** Adds a line; one of bytes, from a template with a name that is not UTF-8, is written at once. */
  const add = async (line: string | Uint8Array) => {
    if (typeof line === 'string') text += line;
    if (typeof line !== 'string' || text.length > 64 * 1024) await end();
    if (typeof line !== 'string') await stdout.write(line);
  };
  return {add, end};
}

/** The numbers of all inputs, of each status, and of those whose content is also stored under another path. */
export type ProofCounts = Record<Verdict['status'] | 'all' | 'elsewhere', number>;

/** Counts verdicts, and prints all but the good ones; `end` resolves to the counts. */
export function proofTally(stdout: Stdout, json = false) {
  const lines = linesTo(stdout);
  const counts: ProofCounts = {all: 0, elsewhere: 0, once: 0, missing: 0, doubled: 0, unknown: 0, refused: 0};
  return {
    /** Counts a verdict, and prints it unless the input is recorded once. */
    async add({status, path, reason, ids, isElsewhere}: Verdict): Promise<void> {
      counts.all += 1;
      counts[status] += 1;
      if (isElsewhere) counts.elsewhere += 1;
      if (status === 'once') return;
      await lines.add(
        json
          ? jsonLine<JournalCheckLine>({...fileFields(path), status, reason, ids})
          : textLine(status, path, ids.length === 0 ? reason : `${reason}: ${ids.join(', ')}`),
      );
    },
    end: () => lines.end().then(() => counts),
  };
}
