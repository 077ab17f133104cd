import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';

/** Where the content of something is in a file. */
export interface Span {
  start: number;
  end: number;
}

/** A section of a container, such as a box or an element, with its content. */
export interface Section<Kind> extends Span {
  kind: Kind;
}

/** How the sections of a container are read. */
interface Format<Kind> {
  /** The bytes of the shortest header; fewer bytes at the end of a span are no section. */
  shortest: number;
  /** Enough sections for any real file; limits files that were made to waste time. */
  most: number;
  /** Reads the first bytes of a section; undefined if they are not valid. `limit`: where the section around it ends. */
  read: (header: Buffer, position: number, limit: number) => Section<Kind> | undefined;
}

/** The sections of a container, which are read one after another, each only to see where the next one begins. */
export class Sections<Kind> {
  /** Whether all sections so far were valid, and not too many. */
  isSound = true;
  readonly #bytes: RandomAccess;
  readonly #format: Format<Kind>;
  #count = 0;

  constructor(bytes: RandomAccess, format: Format<Kind>) {
    this.#bytes = bytes;
    this.#format = format;
  }

  /** The sections in a span, one after another; at a section that is not valid, sets `isSound` to false and ends. */
  async *in(span: Span): AsyncGenerator<Section<Kind>> {
    const {shortest, most, read} = this.#format;
    const end = Math.min(span.end, this.#bytes.size);
    for (let position = span.start; position + shortest <= end; ) {
      // No header is longer than 16 bytes.
      const section = read(await readAt(this.#bytes, position, 16), position, span.end);
      this.#count += 1;
      if (section === undefined || this.#count > most) {
        this.isSound = false;
        return;
      }
      yield section;
      position = section.end;
    }
  }

  /** The first of these kinds in a span. */
  async find(span: Span, ...kinds: readonly Kind[]): Promise<Section<Kind> | undefined> {
    for await (const section of this.in(span)) if (kinds.includes(section.kind)) return section;
    return undefined;
  }
}
