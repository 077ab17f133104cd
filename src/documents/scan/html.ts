import {decodeHTMLAttribute} from 'entities/decode';
import {type Token, Tokenizer, TokenizerMode} from 'parse5';
import {byWord, own} from '../../lib/object.ts';
import {cssReferences, cssUrls, type FoundUrl} from './css.ts';
import {isFilledIn, isPath, type Reference, type ScanOptions, withoutQuery} from './reference.ts';

/** Elements whose content is text, by the tokenizer's mode for it. */
const textElements = byWord([
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.RCDATA, 'textarea title'],
  [TokenizerMode.RAWTEXT, 'style xmp iframe noembed noframes'],
  [TokenizerMode.PLAINTEXT, 'plaintext'],
]);

/** What the value of an attribute of an element is; of some, under a condition. */
const uses = byWord<Use>([
  ['url', 'img.src video.src video.poster image.href image.xlink:href'],
  ['url', 'source.src link.href input.src meta.content'],
  ['srcset', 'img.srcset source.srcset link.imagesrcset'],
  ['media', 'embed.src object.data'],
]);

const socialImage =
  /^(?:og:image|og:image:url|og:image:secure_url|og:video|og:video:url|twitter:image|twitter:image:src)$/i;

const conditions: Readonly<Record<string, (values: ReadonlyMap<string, string>) => boolean>> = {
  'link.href': isPicture,
  'input.src': values => values.get('type')?.toLowerCase() === 'image',
  'meta.content': values => socialImage.test(values.get('property') ?? values.get('name') ?? ''),
};

/** Finds the references in parts of one document, which may be split by Markdown. */
export class HtmlScanner {
  readonly #options: ScanOptions;
  readonly #add: (reference: Reference) => void;
  readonly #isXml: boolean;
  /** How many audio elements are open. */
  #audio = 0;
  /** What the first `base` element puts before relative URLs. */
  #base: string | undefined;

  /** With `isXml`, for XML and JSX, any element can be empty: `<audio />`. */
  constructor(options: ScanOptions, add: (reference: Reference) => void, isXml: boolean) {
    this.#options = options;
    this.#add = reference => {
      const [{target}, base] = [reference, this.#base ?? ''];
      const isRelative = isPath(target) && !(target.startsWith('/') && isPath(base));
      add(isRelative ? {...reference, target: base + target} : reference);
    };
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
          const mode = textElements.get(token.tagName);
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
              this.#addUrls('style', css, base + styleStart, true);
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

  /** Adds the references in the attributes of a tag, and notes the first `base`, which changes later ones. */
  #startTag({tagName, attrs, location}: Token.TagToken, html: string, base: number): void {
    const values = new Map(attrs.map(({name, value}) => [name, value]));
    const href = values.get('href');
    if (tagName === 'base' && href !== undefined) this.#base ??= baseOf(href.trim());
    for (const {name} of attrs) {
      const place = own(location?.attrs ?? {}, name);
      const use = this.#useOf(tagName, name, values);
      if (place === undefined || use === undefined) continue;
      const nameEnd = place.startOffset + name.length;
      const [before = '', quote = ''] = /^\s*=\s*(["']?)/.exec(html.slice(nameEnd, place.endOffset)) ?? [];
      const start = nameEnd + before.length;
      this.#addUrls(use, html.slice(start, place.endOffset - quote.length), base + start, quote !== '');
    }
  }

  /** What the value of an attribute is; undefined if it does not count. */
  #useOf(tag: string, name: string, values: ReadonlyMap<string, string>): Use | undefined {
    if (name === 'style') return 'style';
    const place = `${tag}.${name}`;
    if (place === 'a.href') return this.#options.links ? 'media' : 'link';
    if (place === 'source.src' && this.#audio > 0) return undefined;
    return own(conditions, place)?.(values) === false ? undefined : uses.get(place);
  }

  /** Adds the references in `raw`, the text of an attribute or a style as written, at `base` in the document. */
  #addUrls(use: Use, raw: string, base: number, isQuoted: boolean): void {
    const {text, offsetInRaw} = decodeAttribute(raw);
    const quotedContext = use === 'srcset' ? use : 'attribute';
    const onlyMedia = use !== 'url' && use !== 'srcset';
    for (const {start, end, target} of urlsIn(text, use)) {
      const [from, to] = [offsetInRaw(start), offsetInRaw(end)];
      const source = raw.slice(from, to);
      const bare = source === raw ? 'bare attribute' : 'part of bare attribute';
      const context = isQuoted ? quotedContext : bare;
      const reference: Reference = {start: base + from, end: base + to, source, target, context, onlyMedia};
      this.#add(use === 'link' ? {...reference, left: use} : reference);
    }
  }
}

/** The directory that a base URL leads to. A path from the top of the site is taken for the document's directory. */
function baseOf(href: string): string {
  return /^\/(?!\/)/.test(href) || isFilledIn(href) ? '' : withoutQuery(href).replace(/[^/]*$/, '');
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

/** The value of an attribute with its character references resolved, and where each place of it is in the original. */
function decodeAttribute(raw: string): {text: string; offsetInRaw: (at: number) => number} {
  if (!raw.includes('&')) return {text: raw, offsetInRaw: at => at};
  let text = '';
  let end = 0;
  const offsets: number[] = [];
  // A named reference without a semicolon is none before an equals sign (HTML, 13.2.5.73).
  const pieces = /&(?:#x?[0-9a-f]+;?|[a-z][a-z0-9]*(?:;|(?![=a-z0-9])))|[^&]+|&/gi;
  for (const [piece] of raw.matchAll(pieces)) {
    const plain = decodeHTMLAttribute(piece);
    for (let at = 0; at < plain.length; at += 1) offsets.push(plain === piece ? end + at : end);
    text += plain;
    end += piece.length;
  }
  return {text, offsetInRaw: at => offsets[at] ?? end};
}

/** The URLs in the value of an attribute, or in a style sheet, by what the value is. */
function urlsIn(value: string, use: Use): FoundUrl[] {
  if (use === 'style') return cssUrls(value);
  // A candidate of a srcset (HTML standard): a URL that ends with a comma, or a URL with descriptors.
  const srcsetCandidate = /([^\s,]\S*?)(?:,+(?!\S)|(?!\S)(?:\([^)]*\)?|[^,(])*)/g;
  const matches = value.matchAll(use === 'srcset' ? srcsetCandidate : /(\S(?:.*\S)?)/gs);
  return [...matches].map(({1: target = '', index: start}) => ({start, end: start + target.length, target}));
}
