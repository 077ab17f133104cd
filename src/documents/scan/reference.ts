/** Where a reference stands, which decides how a URL is written there. */
export type Context =
  | 'markdown'
  | 'wiki'
  | 'attribute'
  /** Without quotes. */
  | 'bare attribute'
  /** The same, with other text beside it. */
  | 'part of bare attribute'
  | 'srcset'
  | 'css'
  | 'plain'
  | 'quoted';

/** A reference to a file in a document. Offsets count UTF-16 units of the document's text. */
export interface Reference {
  start: number;
  end: number;
  /** The text between them. */
  source: string;
  /** What that text refers to: escapes and character references are resolved, percent-encoding is not. */
  target: string;
  context: Context;
  /** Whether it counts only if its name says image or video: links lead to pages, style sheets load fonts. */
  onlyMedia: boolean;
  /** Why it stays as it is, though it names local media. */
  left?: LeftKind;
}

/** What may name local media, and is counted but left alone. */
export type LeftKind = 'shortcode' | 'template' | 'import' | 'expression' | 'link' | 'front-matter';
export type LeftCounts = Partial<Record<LeftKind, number>>;

/** Common names of media: where other words may stand, rarer ones would find too much. */
const extensions = 'avif|gif|heic|jpe?g|mkv|mov|mp4|png|svg|webm|webp';
/** The end of such a name, as a regular expression. */
export const endOfName = `\\.(?:${extensions})(?![\\w.-])`;
const endsAsMedia = new RegExp(`\\.(?:${extensions})(?:[?#].*)?$`, 'i');

/** Whether a text, or what a template makes of it, is a path of media by its name. */
export function namesLocalMedia(text: string): boolean {
  return endsAsMedia.test(text) && isPath(text);
}

/** YAML or TOML at the beginning of a document; in those of Jekyll and Hugo, HTML stands only behind it. */
export const wholeFrontMatter = /^\ufeff?(---|\+\+\+)[\t ]*[\r\n](?:[\s\S]*?[\r\n])??\1[\t ]*(?![^\r\n])/;

/** What to look for besides what is always looked for. */
export interface ScanOptions {
  /** Whether links to media count. */
  links: boolean;
  frontMatter: readonly string[];
}

export type DocumentKind = 'markdown' | 'mdx' | 'mkdocs' | 'obsidian' | 'html' | 'xhtml' | 'css';

/** Whether a text is a path: not a URL with a scheme or a host, or a fragment. */
export function isPath(target: string): boolean {
  if (target.trim() === '' || /^(#|\?|\/\/|\\\\)/.test(target)) return false;
  // A single letter is a drive of Windows.
  return !/^[a-z][a-z0-9+.-]+:/i.test(target);
}

export function withoutQuery(target: string): string {
  return target.replace(/[?#].*$/s, '');
}

/** Whether a template engine or a program fills in a part of a text. */
export function isFilledIn(target: string): boolean {
  return /\{\{|\{%|<%|\$\{|^\{|#\{/.test(target);
}
