import {formatBytes} from '../../../output/units.ts';
import type {Outcome} from '../../../transfer/outcome.ts';

interface Sum {
  files: number;
  bytes: number;
}

/** Adds up the results of a dry run: files and bytes of each content type, and of duplicates. */
export class DryRunTotals {
  readonly #byType = new Map<string, Sum>();
  readonly #total: Sum = {files: 0, bytes: 0};
  readonly #duplicates: Sum = {files: 0, bytes: 0};

  add(outcome: Outcome): void {
    if (outcome.status !== 'checked') return;
    const {contentType = '', size = 0} = outcome;
    const ofType = this.#byType.get(contentType) ?? {files: 0, bytes: 0};
    this.#byType.set(contentType, ofType);
    addTo(ofType, size);
    addTo(this.#total, size);
    if (outcome.duplicateOf !== undefined) addTo(this.#duplicates, size);
  }

  /** The totals, one per line: all files, each content type from most to fewest bytes, duplicates. */
  lines(): string[] {
    const types = [...this.#byType].sort(([, a], [, b]) => b.bytes - a.bytes);
    const lines = [
      `Checked, nothing was sent: ${sumText(this.#total)}.`,
      ...types.map(([contentType, sum]) => `  ${contentType}: ${sumText(sum)}`),
    ];
    if (this.#duplicates.files > 0) lines.push(`  the same content as another: ${sumText(this.#duplicates)}`);
    return lines;
  }
}

function addTo(sum: Sum, size: number): void {
  sum.files += 1;
  sum.bytes += size;
}

function sumText({files, bytes}: Sum): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, ${formatBytes(bytes)}`;
}
