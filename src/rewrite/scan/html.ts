import {decodeHTMLAttribute} from 'entities/decode';
import {type Token, Tokenizer, TokenizerMode} from 'parse5';
import {own} from '../../lib/object.ts';
import {cssReferences, cssUrls, type Decoded, decodeEscapes, originalOffset} from './css.ts';
import type {Reference, ScanOptions} from './reference.ts';

/** Elements whose content is text, with the tokenizer's mode for it. */
const textElements: Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]> = {
  script: TokenizerMode.SCRIPT_DATA,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  plaintext: TokenizerMode.PLAINTEXT,
};

const socialImages = new Set([
  'og:image',
  'og:image:url',
  'og:image:secure_url',
  'og:video',
  'og:video:url',
  'twitter:image',
  'twitter:image:src',
]);

/** Finds the references in parts of one document, which may be split by Markdown. */
export class HtmlScanner {
  readonly #options: ScanOptions;
  readonly #add: (reference: Reference) => void;
  readonly #isXml: boolean;
  /** How many audio elements are open. */
  #audio = 0;

  /** With `isXml`, for XML and JSX, any element can be empty: `<audio />`. */
  constructor(options: ScanOptions, add: (reference: Reference) => void, isXml: boolean) {
    this.#options = options;
    this.#add = add;
    this.#isXml = isXml;
  }

  /** Scans a whole document, or a part of one; `base` is its offset in the document. */
  scan(html: string, base = 0): void {
    let styleStart: number | undefined;
    /** How many elements are open in which tags mean what they do in XML. */
    let foreign = 0;
    const ignore = () => {};
    const tokenizer: Tokenizer = new Tokenizer(
      {sourceCodeLocationInfo: true},
      {
        onStartTag: token => {
          this.#startTag(token, html, base);
          if (isForeign(token)) foreign += 1;
          if (token.selfClosing && (this.#isXml || foreign > 0)) return;
          if (token.tagName === 'audio') this.#audio += 1;
          const mode = own(textElements, token.tagName);
          if (mode !== undefined && foreign === 0) tokenizer.state = mode;
          if (token.tagName === 'style') styleStart = token.location?.endOffset;
        },
        onEndTag: token => {
          if (isForeign(token)) foreign = Math.max(0, foreign - 1);
          if (token.tagName === 'audio') this.#audio = Math.max(0, this.#audio - 1);
          if (token.tagName === 'style' && styleStart !== undefined) {
            const css = html.slice(styleStart, token.location?.startOffset);
            // In XML and SVG, character references mean something outside of CDATA.
            if ((this.#isXml || foreign > 0) && !css.includes('<![CDATA['))
              this.#value('style', css, base + styleStart, true);
            else cssReferences(css, base + styleStart).forEach(this.#add);
          }
          styleStart = undefined;
        },
        onComment: ignore,
        onDoctype: ignore,
        onEof: ignore,
        onCharacter: ignore,
        onNullCharacter: ignore,
        onWhitespaceCharacter: ignore,
      },
    );
    tokenizer.write(html, true);
  }

  #startTag({tagName, attrs, location}: Token.TagToken, html: string, base: number): void {
    const values = new Map(attrs.map(({name, value}) => [name, value]));
    for (const {name} of attrs) {
      const place = own(location?.attrs ?? {}, name);
      const use = this.#useOf(tagName, name, values);
      if (place === undefined || use === undefined) continue;
      const start = valueStart(html, place.startOffset + name.length, place.endOffset);
      if (start === undefined) continue;
      const isQuoted =
        /["']/.test(html.charAt(start - 1)) && html.charAt(place.endOffset - 1) === html.charAt(start - 1);
      const end = isQuoted ? place.endOffset - 1 : place.endOffset;
      this.#value(use, html.slice(start, end), base + start, isQuoted);
    }
  }

  /** What the value of an attribute is; undefined if it does not count. */
  #useOf(tag: string, name: string, values: ReadonlyMap<string, string>): Use | undefined {
    if (name === 'style') return 'style';
    if (this.#options.attributes.includes(name)) return name.endsWith('srcset') ? 'srcset' : 'url';
    switch (`${tag} ${name}`) {
      case 'source src':
        return this.#audio === 0 ? 'url' : undefined;
      case 'img src':
      case 'video src':
      case 'video poster':
      case 'image href':
      case 'image xlink:href':
        return 'url';
      case 'img srcset':
      case 'source srcset':
        return 'srcset';
      case 'link imagesrcset':
        return 'srcset';
      case 'link href':
        return isPicture(values) ? 'url' : undefined;
      case 'input src':
        return values.get('type')?.toLowerCase() === 'image' ? 'url' : undefined;
      case 'embed src':
      case 'object data':
        return 'media';
      case 'meta content':
        return socialImages.has((values.get('property') ?? values.get('name') ?? '').toLowerCase())
          ? 'url'
          : undefined;
      case 'a href':
        return this.#options.links ? 'media' : 'link';
      default:
        return undefined;
    }
  }

  #value(use: Use, raw: string, base: number, isQuoted: boolean): void {
    const decoded = decodeEscapes(raw, /&(?:#x?[0-9a-f]+|[a-z][a-z0-9]*);?/gi, found =>
      decodeHTMLAttribute(found),
    );
    const {text} = decoded;
    if (use === 'style') {
      for (const url of cssUrls(text)) this.#part(decoded, raw, base, url, 'css attribute', use);
    } else if (use === 'srcset') {
      for (const url of srcsetUrls(text))
        this.#part(decoded, raw, base, url, isQuoted ? 'srcset' : 'bare attribute', use);
    } else {
      const start = text.length - text.trimStart().length;
      const url = {start, end: Math.max(start, text.trimEnd().length), target: text.trim()};
      this.#part(decoded, raw, base, url, isQuoted ? 'attribute' : 'bare attribute', use);
    }
  }

  #part(
    decoded: Decoded,
    raw: string,
    base: number,
    url: {start: number; end: number; target: string},
    context: Reference['context'],
    use: Use,
  ): void {
    const [start, end] = [originalOffset(decoded, url.start), originalOffset(decoded, url.end)];
    const source = raw.slice(start, end);
    const onlyMedia = use !== 'url' && use !== 'srcset';
    const found = {start: base + start, end: base + end, source, target: url.target, context, onlyMedia};
    this.#add(use === 'link' ? {...found, left: use} : found);
  }
}

/** SVG and MathML in HTML: in them, an element can be empty, and none has text instead of tags. */
function isForeign({tagName, selfClosing}: Token.TagToken): boolean {
  return /^(?:svg|math)$/.test(tagName) && !selfClosing;
}

/** `media` counts only if its name says image or video, `link` is left alone. */
type Use = 'url' | 'media' | 'link' | 'srcset' | 'style';

/** Whether a `link` leads to an icon, or to a picture to load early. */
function isPicture(values: ReadonlyMap<string, string>): boolean {
  const rel = values.get('rel') ?? '';
  return (
    /(^|[\s-])icon(\s|$)/i.test(rel) ||
    (/(^|\s)preload(\s|$)/i.test(rel) && values.get('as')?.toLowerCase() === 'image')
  );
}

/** Where the value of an attribute begins, after its name; undefined if it has none. */
function valueStart(html: string, afterName: number, end: number): number | undefined {
  const [found, quote] = /^\s*=\s*(["']?)/.exec(html.slice(afterName, end)) ?? [];
  return found === undefined || (quote === '' && afterName + found.length >= end)
    ? undefined
    : afterName + found.length;
}

/** The URLs of a srcset attribute's value with their offsets, as the HTML standard parses its candidates. */
function srcsetUrls(value: string): {start: number; end: number; target: string}[] {
  const urls: {start: number; end: number; target: string}[] = [];
  for (let at = 0; at < value.length; ) {
    at = skip(value, at, /[\s,]/);
    const start = at;
    at = skip(value, at, /\S/);
    const url = value.slice(start, at);
    const target = url.replace(/,+$/, '');
    if (target !== '') urls.push({start, end: start + target.length, target});
    // A URL that ends with a comma has no descriptors; those end at a comma outside parentheses.
    if (url === target) at = endOfDescriptors(value, at);
  }
  return urls;
}

function skip(text: string, from: number, pattern: RegExp): number {
  let at = from;
  while (at < text.length && pattern.test(text.charAt(at))) at += 1;
  return at;
}

function endOfDescriptors(value: string, from: number): number {
  let isInParentheses = false;
  for (let at = from; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === '(') isInParentheses = true;
    else if (character === ')') isInParentheses = false;
    else if (character === ',' && !isInParentheses) return at + 1;
  }
  return value.length;
}
