import {isUtf8} from 'node:buffer';
import {blocksOf, damagedLine, longestLine, type RawLine, type ReadHandle} from './file.ts';
import {JournalIndex} from './journal-index.ts';
import {isWriterLine, mayBeHeader, type ParsedLine, parseLine, type Scope, type WriterLine} from './line.ts';
import {commonScope, scopeOf} from './scope.ts';

const belongsNowhere = 'belongs to an upload that no earlier line starts';

/** A line that is no line of a journal, or belongs to no upload. */
interface Doubt {
  number: number;
  what: string;
  /** Whether a power cut may have lost what was written there, and kept what was written after it: none of it was synced. */
  isHole: boolean;
}

/** Reads a journal line by line. Nothing is ever written. */
export class Recovery {
  readonly index: JournalIndex;
  /** The scope in its headers; undefined if there is none yet. */
  scope: Scope | undefined;
  /** Where the next unread line begins. */
  next = {offset: 0, number: 1};
  /** A last line without its line break, which was not processed. */
  rest: RawLine | undefined;
  readonly #shown: string;
  /** The opening line of the last writer. */
  #writer: WriterLine | undefined;
  #isClosed = true;
  /** An invalid line: an incomplete write if a writer opens the journal after it, otherwise damage. */
  #doubt: Doubt | undefined;

  constructor(shown: string, options: {paths?: boolean | undefined}) {
    this.#shown = shown;
    this.index = new JournalIndex(options);
  }

  /** The last writer, if it has not recorded its end. */
  get writer(): WriterLine | undefined {
    return this.#isClosed ? undefined : this.#writer;
  }

  /** Processes all complete lines that were not processed yet. */
  async read(handle: ReadHandle): Promise<void> {
    this.rest = undefined;
    for await (const lines of blocksOf(handle, this.#shown, this.next.offset)) {
      for (const line of lines) {
        if (line.ended) this.#take(line);
        else this.#keep(line);
      }
    }
  }

  /** Processes a last line that is complete except for its line break. */
  takeRest(): void {
    if (this.rest !== undefined) this.#take(this.rest);
  }

  #take(line: RawLine): void {
    const {number} = this.next;
    this.next = {offset: line.offset + line.bytes.length + 1, number: number + 1};
    const parsed = parseBytes(line.bytes);
    if (this.scope === undefined && parsed?.event !== 'header') {
      // Several runs may have been cut off while they wrote the first line.
      if (parsed !== undefined || !mayBeHeader(line.bytes)) scopeOf(undefined, this.#shown);
    }
    if (this.#doubt !== undefined) this.#judgeDoubt(parsed, this.#doubt);
    if (parsed === undefined)
      this.#doubt ??= {number, what: 'is not a journal line', isHole: line.bytes.includes(0)};
    else if (!this.#fits(parsed, line)) this.#doubt ??= {number, what: belongsNowhere, isHole: false};
  }

  /** An incomplete write can only be followed by the opening line of the next writer. */
  #judgeDoubt(next: ParsedLine | undefined, doubt: Doubt): void {
    const {number, what} = doubt;
    if (next?.event === 'open' || next?.event === 'header') this.#doubt = undefined;
    // Whatever follows a release was written after a sync, which leaves no hole.
    else if (doubt.isHole) doubt.isHole = next?.event !== 'release';
    // Two writers may open the journal at once after an incomplete line, each with a line break.
    else if (next !== undefined) throw damagedLine(this.#shown, number, what);
  }

  #keep(line: RawLine): void {
    const {number} = this.next;
    if (line.bytes.length > longestLine)
      throw damagedLine(this.#shown, number, 'is longer than any journal line');
    this.rest = line;
    const parsed = parseBytes(line.bytes);
    if (this.scope !== undefined) return;
    if (parsed?.event === 'header') this.scope = scopeOf(parsed, this.#shown);
    else if (parsed !== undefined || !mayBeHeader(line.bytes)) scopeOf(undefined, this.#shown);
  }

  #fits(parsed: ParsedLine, line: RawLine): boolean {
    if (parsed.event === 'header') {
      // Journals that were concatenated have headers in the middle.
      this.#join(scopeOf(parsed, this.#shown));
      // Each of them says itself which service it belongs to.
      this.index.serviceId = parsed.serviceId;
      return true;
    }
    if (isWriterLine(parsed)) this.#follow(parsed);
    else if (!this.index.apply(parsed, line.offset)) return false;
    const {serviceId} = this.index;
    if (serviceId !== undefined && this.scope !== undefined && serviceId !== this.scope.serviceId)
      this.#join({...this.scope, serviceId});
    return true;
  }

  #join(next: Scope): void {
    const shown = this.#shown;
    this.scope = commonScope([
      {shown, scope: this.scope},
      {shown, scope: next},
    ]);
  }

  #follow(line: WriterLine): void {
    if (line.event === 'open') {
      this.index.withdraw();
      this.#writer = line;
      this.#isClosed = false;
      return;
    }
    // A writer that another one has replaced no longer sends anything.
    if (this.#writer !== undefined && this.#writer.by !== line.by) return;
    if (line.event === 'release') this.index.release(line.by);
    if (line.event === 'close') this.#isClosed = true;
  }
}

/** Reads a journal up to its last line break; rejects if it is damaged, of another version, or not a journal. `paths`: whether to index paths. */
export async function recover(
  handle: ReadHandle,
  shown: string,
  options: {paths?: boolean | undefined} = {},
): Promise<Recovery> {
  const recovery = new Recovery(shown, options);
  await recovery.read(handle);
  return recovery;
}

function parseBytes(bytes: Buffer): ParsedLine | undefined {
  return isUtf8(bytes) ? parseLine(bytes.toString()) : undefined;
}
