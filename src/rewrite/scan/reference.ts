/** Where a reference stands, which decides how a URL is written there. */
export type Context =
  | 'markdown'
  | 'wiki'
  | 'attribute'
  /** Without quotes. */
  | 'bare attribute'
  | 'srcset'
  | 'css'
  | 'css attribute'
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
  /**
   * Whether it counts only if its name says image or video: a link may lead to another page, a style sheet may load a font.
   */
  onlyMedia: boolean;
}

/** What to look for besides what is always looked for. */
export interface ScanOptions {
  /** Whether links to media count. */
  links: boolean;
  /** Names of further HTML attributes, in lower case. */
  attributes: readonly string[];
  /** Names of keys in the front matter. */
  frontMatter: readonly string[];
}

export type DocumentKind = 'markdown' | 'mdx' | 'mkdocs' | 'html' | 'css';

/**
 * Whether a text is a path: not a URL with a scheme or a host, a fragment, or something that a template engine or a
 * program fills in.
 */
export function isLocal(target: string): boolean {
  if (target.trim() === '' || /^(#|\?|\/\/|\\\\)/.test(target)) return false;
  // A single letter is a drive of Windows.
  if (/^[a-z][a-z0-9+.-]+:/i.test(target)) return false;
  return !/\{\{|\{%|<%|\$\{|^\{|#\{/.test(target);
}
