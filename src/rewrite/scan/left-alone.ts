import type {Token} from 'micromark-util-types';
import {javascriptTokens} from './mdx.ts';
import {type LeftCounts, type LeftKind, namesLocalMedia, type Reference} from './reference.ts';

/** Tokens of code. */
export const codeToken = /^code(?:Fenced|Indented|Text)$/;
const javascript =
  /^(?:mdxjsEsm|mdx(?:Flow|Text)Expression|mdxJsx(?:Flow|Text)Tag(?:AttributeValueExpression|ExpressionAttribute))$/;

/** Shortcodes of Hugo, unless they are written to be shown, and what other template engines fill in. */
const templates = /\{\{([<%])(?!\/\*)[^{}]*[>%]\}\}|\{%[^{}]*%\}|\{\{(?![<%])[^{}]*\}\}[^\s"'()<>]*/g;
const words = /"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`|([^\s"'`=,()[\]{}<>|]+)/g;

/** Counts what names local media in a document in Markdown, and is no reference. */
export class LeftAlone {
  readonly #text: string;
  readonly #counts: LeftCounts = {};
  /** What is not prose. */
  readonly #blanks: Pick<Reference, 'start' | 'end'>[] = [];
  #frontMatterEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  enter({type, start: {offset: start}, end: {offset: end}}: Token): void {
    if (type === 'yaml' || type === 'toml') this.#frontMatterEnd = end;
    const isScript = javascript.test(type);
    if (isScript) this.#script(this.#text.slice(start, end));
    const isComment = type.startsWith('html') && this.#text.startsWith('<!--', start);
    if (isScript || isComment || codeToken.test(type)) this.#blanks.push({start, end});
  }

  /** How much is found of each kind, besides these references. */
  besides(references: readonly Reference[]): LeftCounts {
    let prose = '';
    for (const {start, end} of [...this.#blanks, ...references].sort((a, b) => a.start - b.start))
      prose = (prose + this.#text.slice(prose.length, start)).padEnd(end);
    prose += this.#text.slice(prose.length);
    this.#add('front-matter', namesIn(prose.slice(0, this.#frontMatterEnd)));
    for (const [whole, sign] of prose.slice(this.#frontMatterEnd).matchAll(templates))
      this.#add(sign === undefined ? 'template' : 'shortcode', Math.min(1, namesIn(whole)));
    return this.#counts;
  }

  #script(text: string): void {
    for (const {0: token, index} of text.matchAll(javascriptTokens)) {
      if (!/^["'`]./.test(token)) continue;
      const isImport = /\b(?:from|import)\s*$/.test(text.slice(Math.max(0, index - 20), index));
      this.#add(isImport ? 'import' : 'expression', namesIn(token));
    }
  }

  #add(kind: LeftKind, count: number): void {
    if (count > 0) this.#counts[kind] = (this.#counts[kind] ?? 0) + count;
  }
}

/** How many words of a text name local media. */
function namesIn(text: string): number {
  const found = [...text.matchAll(words)].map(([, ...groups]) => groups.find(word => word !== undefined));
  return found.filter((word = '') => namesLocalMedia(word)).length;
}
