import {type LeftOut, type Outcome, unrecordedOf} from '../../../engine/transfer/outcome.ts';
import {type ErrorCode, exitStatusOf, firstStatus, MediaError} from '../../../errors.ts';
import {countText, formatBytes} from '../../../lib/units.ts';
import type {UploadFlags} from './flags.ts';

const none = {files: 0, bytes: 0};
type Sum = typeof none;

/** Counts the results of the inputs. */
export class Tally {
  /** How many inputs have each status; only add() changes it. */
  readonly counts = {uploaded: 0, skipped: 0, checked: 0, mismatched: 0, failed: 0, unknown: 0};
  readonly #codes = new Set<ErrorCode>();
  readonly #dryRun: boolean;
  /** What passed the checks of a dry run: all files (''), those of each content type, and those `stripped`. */
  readonly #sums = new Map<string, Sum>();
  /** How many files were left out by walks; they are not inputs. */
  leftOut = 0;
  #hidden = 0;
  #unrecorded = 0;
  #withoutUrl = 0;

  constructor({dryRun = false}: {dryRun?: boolean} = {}) {
    this.#dryRun = dryRun;
  }

  /** Counts an outcome. `noUrl`: why a file that is stored counts as a failure. */
  add(outcome: Outcome | LeftOut, noUrl?: MediaError): void {
    if (outcome.status === 'left out') {
      this.leftOut += 1;
      if (outcome.isHidden) this.#hidden += 1;
      return;
    }
    const {status, contentType = '', size = 0, geotags} = outcome;
    this.counts[status] += 1;
    if (unrecordedOf(outcome) !== undefined) this.#unrecorded += 1;
    if (noUrl !== undefined) this.#withoutUrl += 1;
    const error = 'error' in outcome ? outcome.error : noUrl;
    if (error !== undefined) this.#codes.add(error.code);
    if (status !== 'checked') return;
    for (const name of geotags === 'stripped' ? ['', contentType, geotags] : ['', contentType]) {
      const {files, bytes} = this.#sums.get(name) ?? none;
      this.#sums.set(name, {files: files + 1, bytes: bytes + size});
    }
  }

  /** The totals of a dry run, one per line: all files, each content type from most to fewest bytes. */
  sums(): string[] {
    const {'': all = none, stripped, ...types} = Object.fromEntries(this.#sums);
    const ofTypes = Object.entries(types).sort(([, a], [, b]) => b.bytes - a.bytes);
    return [
      `Nothing was sent. To upload: ${sumText(all)}.`,
      ...ofTypes.map(([contentType, sum]) => `  ${contentType}: ${sumText(sum)}`),
      ...(stripped === undefined ? [] : [`  without their location: ${sumText(stripped)}`]),
    ];
  }

  /** How many inputs are finished. */
  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Whether the service has any of the inputs; in a dry run, none was sent. */
  get isAnyStored(): boolean {
    return !this.#dryRun && this.counts.uploaded + this.counts.skipped > 0;
  }

  /** The hint for output that could not be written although all uploads succeeded; none if nothing is stored. */
  get outputHint(): string | undefined {
    if (!this.isAnyStored) return undefined;
    return 'The uploads themselves succeeded. Do not run the command again only for its output.';
  }

  /** The summary line. In a dry run, inputs are checked, known to a journal, or fail. */
  summary(): string {
    const {uploaded, skipped, checked, mismatched, failed, unknown} = this.counts;
    const parts = this.#dryRun
      ? [
          `${checked} will be uploaded`,
          skipped + unknown > 0 && `${skipped} uploaded before`,
          unknown > 0 && `${unknown} unknown`,
          `${failed} failed`,
        ]
      : [
          `${uploaded} uploaded, ${skipped} skipped, ${failed} failed, ${unknown} unknown`,
          mismatched > 0 && `${mismatched} mismatched`,
          this.#unrecorded > 0 && `${this.#unrecorded} not in the journal`,
          this.#withoutUrl > 0 && `${this.#withoutUrl} without a URL`,
        ];
    const leftOut = `${this.leftOut} left out: not media${this.#hidden === 0 ? '' : ' or hidden'}`;
    return [...parts, this.leftOut > 0 && leftOut].filter(Boolean).join(', ');
  }

  /** The summary line of `--check`; `manifest`: its path. */
  checkSummary(manifest = ''): string {
    const {skipped} = this.counts;
    if (skipped === this.total) return `${manifest} is up to date: ${countText(skipped, 'file')}.`;
    const found = `${manifest} is out of date: ${this.total - skipped} of ${countText(this.total, 'file')}`;
    return `${found}. Run the command without --check, and commit ${manifest}.`;
  }

  /** The exit status of the batch (docs/design/contract.md, "Exit status"). */
  exitStatus(): number {
    const {uploaded, skipped, checked, unknown} = this.counts;
    const statuses = new Set<number>([...this.#codes].map(code => exitStatusOf[code]));
    if (unknown > 0) statuses.add(5);
    if (statuses.size > 0 && uploaded + skipped + checked > this.#withoutUrl) statuses.add(3);
    const status = firstStatus(statuses);
    return status === 0 && this.#unrecorded > 0 ? 1 : status;
  }
}

function sumText({files, bytes}: Sum): string {
  return `${countText(files, 'file')}, ${formatBytes(bytes)}`;
}

/** Throws `nothing_matched` if all files were left out; not for a shard, since other machines may have files. */
export function refuseEmptyRun({total, leftOut}: Tally, {shard, prune}: UploadFlags): void {
  if (total > 0 || leftOut === 0 || shard !== undefined || prune) return;
  const names = leftOut === 1 ? '1 name was' : `${leftOut} names were`;
  throw new MediaError(
    'nothing_matched',
    `There is nothing to upload: ${names} left out (hidden, or neither an image nor a video).`,
    {hint: '--verbose lists them, --all uploads them anyway.'},
  );
}

/** The note on links to directories that were not followed. */
export function unfollowedText(links: ReadonlySet<string>): string {
  const [first = ''] = links;
  return links.size === 1
    ? `1 link to a directory was not followed: ${first}. Name it to upload what is in it.`
    : `${links.size} links to directories were not followed: ${first} and others. Name them to upload what is in them.`;
}
