import {isUtf8} from 'node:buffer';
import {blocksOf, damagedLineError, longestLine, type RawLine, type ReadHandle} from './journal-file.ts';
import {JournalIndex} from './journal-index.ts';
import {
  mayBeHeader,
  type ParsedLine,
  parseLine,
  type Scope,
  type Seed,
  seedWriter,
  type WriterLine,
} from './line.ts';
import {commonScope, scopeOf} from './scope.ts';

/** An invalid line: not a journal line, or without an upload that it belongs to. */
interface SuspectLine {
  number: number;
  what: string;
  /** Whether the line contains zeros: a power cut may lose a write and keep a later one, if neither was synced. */
  isHole: boolean;
}

interface RecoveryOptions {
  /** Whether to index paths. */
  paths?: boolean | undefined;
  /** What is known before the first line. */
  seed?: Seed | undefined;
}

/** Reads a journal line by line, and tells damage from an incomplete write. Never writes. */
export class Recovery {
  readonly index: JournalIndex;
  /** The scope in the headers; undefined before the first header. */
  scope: Scope | undefined;
  /** The offset and number of the next line to read. */
  next = {offset: 0, number: 1};
  /** The lines at the offsets below 0. */
  readonly seed: Seed['lines'];
  /** The last line, if it has no line break; it is not processed. */
  unfinishedLine: RawLine | undefined;
  readonly #displayPath: string;
  /** The `open` line of the last writer. */
  #writer: WriterLine | undefined;
  #isClosed = true;
  /** An invalid line before the current one: an incomplete write if an `open` line follows, otherwise damage. */
  #suspect: SuspectLine | undefined;

  constructor(displayPath: string, {paths, seed = {lines: []}}: RecoveryOptions) {
    this.#displayPath = displayPath;
    this.index = new JournalIndex({paths});
    this.scope = seed.scope;
    this.index.serviceId = seed.scope?.serviceId;
    this.seed = seed.lines;
    for (const [number, line] of seed.lines.entries()) this.index.apply(line, number - seed.lines.length);
    this.index.release(seedWriter);
  }

  /** The last writer, unless it has recorded its end. */
  get writer(): WriterLine | undefined {
    return this.#isClosed ? undefined : this.#writer;
  }

  /** Processes all complete lines after the last one that it has processed. */
  async read(handle: ReadHandle): Promise<void> {
    this.unfinishedLine = undefined;
    for await (const lines of blocksOf(handle, this.#displayPath, this.next.offset)) {
      for (const line of lines) {
        if (line.hasLineBreak) this.#process(line);
        else this.#keepUnfinished(line);
      }
    }
  }

  /** Processes the last line although it has no line break. */
  processUnfinishedLine(): void {
    if (this.unfinishedLine !== undefined) this.#process(this.unfinishedLine);
  }

  /** Applies a line. An invalid line becomes the suspect; the lines after it show whether it is damage. */
  #process(line: RawLine): void {
    const {number} = this.next;
    this.next = {offset: line.offset + line.bytes.length + 1, number: number + 1};
    const parsed = parseBytes(line.bytes);
    // Several runs may have crashed while they wrote the header.
    if (this.scope === undefined && parsed?.event !== 'header' && !mayBeHeader(line.bytes))
      scopeOf(undefined, this.#displayPath);
    if (this.#suspect !== undefined) this.#judgeSuspect(parsed, this.#suspect);
    if (parsed === undefined)
      this.#suspect ??= {number, what: 'is not a journal line', isHole: line.bytes.includes(0)};
    else if (!this.#apply(parsed, line))
      this.#suspect ??= {number, what: 'belongs to an upload that no earlier line starts', isHole: false};
  }

  /** Only the `open` line of the next writer can follow an incomplete write. */
  #judgeSuspect(next: ParsedLine | undefined, suspect: SuspectLine): void {
    const {number, what} = suspect;
    if (next?.event === 'open' || next?.event === 'header') this.#suspect = undefined;
    // A writer syncs before it appends the line after a release, so zeros before that line are damage.
    else if (suspect.isHole) suspect.isHole = next?.event !== 'release';
    // An invalid line may follow: two writers may open the journal at once, each with a line break.
    else if (next !== undefined) throw damagedLineError(this.#displayPath, number, what);
  }

  /** Keeps the last line without a line break; throws if it is too long, or shows that the file is no journal. */
  #keepUnfinished(line: RawLine): void {
    const {number} = this.next;
    if (line.bytes.length > longestLine)
      throw damagedLineError(this.#displayPath, number, 'is longer than any journal line');
    this.unfinishedLine = line;
    const parsed = parseBytes(line.bytes);
    if (this.scope !== undefined) return;
    if (parsed?.event === 'header') this.scope = scopeOf(parsed, this.#displayPath);
    else if (!mayBeHeader(line.bytes)) scopeOf(undefined, this.#displayPath);
  }

  /** Applies a valid line to the scope, the writer or the index; false if it contradicts the lines before it. */
  #apply(parsed: ParsedLine, line: RawLine): boolean {
    if (parsed.event === 'header') {
      // A concatenation of journals has several headers.
      this.#joinScope(scopeOf(parsed, this.#displayPath));
      // Each header names its service.
      this.index.serviceId = parsed.serviceId;
      return true;
    }
    if (!('key' in parsed)) this.#applyWriterLine(parsed);
    else if (!this.index.apply(parsed, line.offset)) return false;
    const {serviceId} = this.index;
    if (serviceId !== undefined && this.scope !== undefined && serviceId !== this.scope.serviceId)
      this.#joinScope({...this.scope, serviceId});
    return true;
  }

  #joinScope(next: Scope): void {
    const displayPath = this.#displayPath;
    this.scope = commonScope([
      {displayPath, scope: this.scope},
      {displayPath, scope: next},
    ]);
  }

  /** After an `open` line, only its writer counts; commits that are not released by then are dropped. */
  #applyWriterLine(line: WriterLine): void {
    if (line.event === 'open') {
      this.index.dropUnreleased();
      this.#writer = line;
      this.#isClosed = false;
      return;
    }
    // A replaced writer sends nothing more.
    if (this.#writer !== undefined && this.#writer.by !== line.by) return;
    if (line.event === 'release') this.index.release(line.by);
    if (line.event === 'close') this.#isClosed = true;
  }
}

/** Reads a journal up to its last line break; rejects if it is damaged, of another version, or not a journal. */
export async function recover(
  handle: ReadHandle,
  displayPath: string,
  options: RecoveryOptions = {},
): Promise<Recovery> {
  const recovery = new Recovery(displayPath, options);
  await recovery.read(handle);
  return recovery;
}

function parseBytes(bytes: Buffer): ParsedLine | undefined {
  return isUtf8(bytes) ? parseLine(bytes.toString()) : undefined;
}
