import type {Token} from 'micromark-util-types';
import {javascriptTokens} from './mdx.ts';
import {type LeftKind, namesLocalMedia, type Reference} from './reference.ts';

const code = /^code(?:Fenced|Indented|Text)$/;
const javascript =
  /^(?:mdxjsEsm|mdx(?:Flow|Text)Expression|mdxJsx(?:Flow|Text)Tag(?:AttributeValueExpression|ExpressionAttribute))$/;

/** Shortcodes of Hugo, unless they are written to be shown, and what other template engines fill in. */
const templates = /\{\{([<%])(?!\/\*)[^{}]*[>%]\}\}|\{%[^{}]*%\}|\{\{(?![<%])[^{}]*\}\}[^\s"'()<>]*/g;
const words = /"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`|([^\s"'`=,()[\]{}<>|]+)/g;

/** Finds what names local media in a document in Markdown, and is no reference. */
export class LeftAlone {
  readonly #text: string;
  /** micromark does not count a byte order mark. */
  readonly #shift: number;
  readonly #found: Reference[] = [];
  /** What is not prose. */
  readonly #blanks: Pick<Reference, 'start' | 'end'>[] = [];
  #frontMatterEnd = 0;

  constructor(text: string) {
    this.#text = text;
    this.#shift = text.startsWith('\ufeff') ? 1 : 0;
  }

  enter(token: Token): void {
    const [start, end] = [token.start.offset + this.#shift, token.end.offset + this.#shift];
    if (token.type === 'yaml' || token.type === 'toml') this.#frontMatterEnd = end;
    const isScript = javascript.test(token.type);
    if (isScript) this.#script(start, this.#text.slice(start, end));
    const isComment = token.type.startsWith('html') && this.#text.startsWith('<!--', start);
    if (isScript || isComment || code.test(token.type)) this.#blanks.push({start, end});
  }

  /** What is found, besides these references. */
  besides(references: readonly Reference[]): Reference[] {
    let prose = '';
    for (const {start, end} of [...this.#blanks, ...references].sort((a, b) => a.start - b.start))
      prose = (prose + this.#text.slice(prose.length, start)).padEnd(end);
    prose += this.#text.slice(prose.length);
    this.#found.push(...named('front-matter', 0, prose.slice(0, this.#frontMatterEnd)));
    const body = prose.slice(this.#frontMatterEnd);
    for (const {0: whole, 1: sign, index} of body.matchAll(templates)) {
      const kind = sign === undefined ? 'template' : 'shortcode';
      this.#found.push(...named(kind, this.#frontMatterEnd + index, whole).slice(0, 1));
    }
    return this.#found;
  }

  #script(base: number, text: string): void {
    for (const {0: token, index} of text.matchAll(javascriptTokens)) {
      if (!/^["'`]./.test(token)) continue;
      const isImport = /\b(?:from|import)\s*$/.test(text.slice(Math.max(0, index - 20), index));
      this.#found.push(...named(isImport ? 'import' : 'expression', base + index, token));
    }
  }
}

/** The words of a text that name local media. */
function named(left: LeftKind, base: number, text: string): Reference[] {
  return [...text.matchAll(words)].flatMap(({0: word, index, ...groups}) => {
    const source = groups[1] ?? groups[2] ?? groups[3] ?? word;
    const start = base + index;
    const found = {start, end: start + word.length, source, target: source, onlyMedia: true, left};
    return namesLocalMedia(source) ? [{...found, context: 'plain'} as const] : [];
  });
}
