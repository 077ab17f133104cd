import {decodeHTMLStrict} from 'entities/decode';
import {parse, postprocess, preprocess} from 'micromark';
import {gfm} from 'micromark-extension-gfm';
import {normalizeIdentifier} from 'micromark-util-normalize-identifier';
import type {Token} from 'micromark-util-types';
import {HtmlScanner} from './html.ts';
import {codeToken} from './left-alone.ts';
import {lists} from './markdown-lists.ts';
import {mdx, withoutHeadingIds} from './mdx.ts';
import {mkdocs} from './mkdocs.ts';
import type {DocumentKind, Reference, ScanOptions} from './reference.ts';
import {wikiImages} from './wiki-image.ts';

/** No links to mail addresses: after an open bracket, each word might begin one, and all would be searched again. */
const noMail = {disable: {null: ['emailAutolink']}};
const markdown = [gfm(), noMail, wikiImages];
const extensions = {
  markdown: [...markdown, lists],
  mdx: [...markdown, ...mdx],
  mkdocs: [...markdown, mkdocs],
  obsidian: [...markdown, lists],
};
const htmlToken = /^(?:html(?:Flow|Text)|mdxJsx(?:Flow|Text)Tag)$/;
const attributeExpression = /^mdxJsx(?:Flow|Text)TagAttributeValueExpression$/;
/** Parts of HTML, and those of a JSX element that an element of HTML has, too. */
const htmlPart =
  /^(?:html(?:Flow|Text)Data|mdxJsx(?:Flow|Text)Tag(?!.*Expression).*(?:Marker|Value|Primary|Local|Member))$/;

/** The tokens of which a document may have 1,000 levels. */
const nesting =
  /^(?:blockQuote|listOrdered|listUnordered|gfmFootnoteDefinition|emphasis|strong|strikethrough|image|link)$/;

/** Finds the references; throws a RangeError if they are nested too deeply, a VFileMessage if MDX is not valid. */
export function markdownReferences(
  kind: Exclude<DocumentKind, 'html' | 'xhtml' | 'css'>,
  text: string,
  options: ScanOptions,
): {references: Reference[]; tokens: Token[]} {
  const scanner = new MarkdownScanner(text, options, kind === 'mdx');
  const tokens: Token[] = [];
  const document = parse({extensions: extensions[kind]}).document();
  const body = kind === 'mdx' ? withoutHeadingIds(text) : withoutSlashes(text);
  let levels = 0;
  for (const [event, token] of postprocess(document.write(preprocess()(body, undefined, true)))) {
    if (nesting.test(token.type)) levels += event === 'enter' ? 1 : -1;
    if (levels > 1_000) throw new RangeError('The document is nested too deeply.');
    if (event === 'exit') scanner.exit(token);
    else {
      scanner.enter(token);
      tokens.push(token);
    }
  }
  return {references: kind === 'obsidian' ? scanner.outsideComments(tokens) : scanner.end(), tokens};
}

/** White space in a tag: a line ending, and what the next line of a quote begins with. */
const gap = String.raw`[ \t]*(?:(?:\r\n?|\n)[ \t>]*)?`;
const quotedValue = `"[^"]*"|'[^']*'`;
const attribute = String.raw`(?=\s)${gap}[a-z_:][\w.:-]*(?:${gap}=${gap}(?:[^\s"'=<>\`]+|${quotedValue}))?`;
const tagWithAttributes = new RegExp(`<[a-z][a-z0-9-]*(?:${attribute})+${gap}/?>`, 'gi');
const quotedOrSlash = new RegExp(`(${quotedValue})|/(?!>)`, 'g');

/** The text without slashes in bare values, of equal length: for micromark they end the value (CommonMark 6.6). */
function withoutSlashes(text: string): string {
  const inTag = (tag: string) => tag.replace(quotedOrSlash, (_, quoted: string | undefined) => quoted ?? '.');
  return text.replace(tagWithAttributes, inTag);
}

class MarkdownScanner {
  readonly #text: string;
  readonly #options: ScanOptions;
  readonly #references: Reference[] = [];
  readonly #definitions: {label: string; destination: Token}[] = [];
  readonly #usedByImages = new Set<string>();
  readonly #html: HtmlScanner;
  /** The images and links whose end has not been reached; `label`: how one names a definition. */
  readonly #open: {isImage: boolean; label?: string | undefined}[] = [];
  #definition = '';
  /** Parts of HTML, without what stands before their lines in a quote or a list. */
  #htmlParts: {start: number; text: string}[] | undefined;

  constructor(text: string, options: ScanOptions, isJsx: boolean) {
    this.#text = text;
    this.#options = options;
    this.#html = new HtmlScanner(options, reference => this.#references.push(reference), isJsx);
  }

  /** Call as each token begins: opens an image or a link, and collects the parts of HTML. */
  enter(token: Token): void {
    const {type} = token;
    if (type === 'image' || type === 'link') this.#open.push({isImage: type === 'image'});
    // JavaScript in place of the value: blanks, so that the tag stays valid HTML.
    else if (attributeExpression.test(type)) this.#addHtml(token, text => `"${' '.repeat(text.length - 2)}"`);
    else if (htmlToken.test(type)) this.#htmlParts = [];
    else if (htmlPart.test(type)) this.#addHtml(token);
  }

  /** Call as each token ends: adds its references, except for definitions, which `end` adds. */
  exit(token: Token): void {
    const {type} = token;
    const open = this.#open.at(-1);
    if (type === 'image' || type === 'link') {
      this.#open.pop();
      if (open?.isImage && open.label !== undefined) this.#usedByImages.add(normalizeIdentifier(open.label));
    } else if (type === 'labelText' || type === 'referenceString' || type === 'resource') {
      // With a resource, it names no definition.
      if (open !== undefined) open.label = type === 'resource' ? undefined : this.#textOf(token);
    } else if (type === 'resourceDestinationString')
      this.#references.push(this.#reference(token, open?.isImage === true));
    else if (type === 'definitionLabelString') this.#definition = normalizeIdentifier(this.#textOf(token));
    else if (type === 'definitionDestinationString')
      this.#definitions.push({label: this.#definition, destination: token});
    else if (type === 'wikiImage') this.#wiki(token);
    else if (htmlToken.test(type)) this.#scanHtml();
  }

  /** All references. Definitions count if an image uses them, or a link with `links`. */
  end(): Reference[] {
    for (const {label, destination} of this.#definitions)
      this.#references.push(this.#reference(destination, this.#usedByImages.has(label)));
    return this.#references;
  }

  /** All references except those in comments of Obsidian, `%% ... %%`; in code, `%%` does not begin a comment. */
  outsideComments(tokens: readonly Token[]): Reference[] {
    const code = tokens.filter(({type}) => codeToken.test(type));
    const signs = [...this.#text.matchAll(/%%/g)]
      .map(({index}) => index)
      .filter(at => !code.some(({start, end}) => start.offset <= at && at < end.offset));
    return this.end().filter(({start}) => {
      // A sign without a second one begins no comment.
      const before = signs.filter(at => at < start).length;
      return before % 2 === 0 || before === signs.length;
    });
  }

  /** What an image or a link leads to; a link is left alone without `links`. */
  #reference(token: Token, isImage: boolean): Reference {
    const source = this.#textOf(token);
    const target = unescapeMarkdown(source);
    const reference = {
      ...this.#place(token),
      source,
      target,
      context: 'markdown',
      onlyMedia: !isImage,
    } as const;
    return isImage || this.#options.links ? reference : {...reference, left: 'link'};
  }

  /** Adds a file that Obsidian embeds; what follows `|` or `#` does not belong to its name. */
  #wiki(token: Token): void {
    const source = this.#textOf(token).slice('![['.length, -']]'.length);
    const target = source.split(/\\?\||#/, 1)[0] ?? '';
    this.#references.push({...this.#place(token), source, target, context: 'wiki', onlyMedia: true});
  }

  /** Adds a part to the piece of HTML that is open. `write` makes something of equal length of its text. */
  #addHtml(token: Token, write = (text: string) => text): void {
    this.#htmlParts?.push({start: this.#place(token).start, text: write(this.#textOf(token))});
  }

  /** Scans a piece of HTML in its place: what belongs to a quote or a list becomes blanks. */
  #scanHtml(): void {
    const parts = this.#htmlParts ?? [];
    this.#htmlParts = undefined;
    const base = parts[0]?.start ?? 0;
    let html = '';
    for (const {start, text} of parts) html = html.padEnd(start - base) + text;
    this.#html.scan(html, base);
  }

  #textOf({start, end}: Token): string {
    return this.#text.slice(start.offset, end.offset);
  }

  #place({start, end}: Token): Pick<Reference, 'start' | 'end'> {
    return {start: start.offset, end: end.offset};
  }
}

/** The text without its backslash escapes and character references (CommonMark, 2.4 and 2.5). */
function unescapeMarkdown(text: string): string {
  return text.replace(
    /\\([!-/:-@[-`{-~])|&(?:#x?[0-9a-f]+|[a-z][a-z0-9]*);/gi,
    (found, escaped?: string) => escaped ?? decodeHTMLStrict(found),
  );
}
