import {tokenize} from 'css-tree/tokenizer';
import {ident} from 'css-tree/utils';
import type {Reference} from './reference.ts';

/** A URL in a text: the range of its text without quotes, and what it refers to. */
export type FoundUrl = Pick<Reference, 'start' | 'end' | 'target'>;

/** The types of tokens in css-tree, as CSS Syntax Module Level 3 names them. */
const type = {
  function: 2,
  atKeyword: 3,
  string: 5,
  url: 7,
  whiteSpace: 13,
  semicolon: 17,
  leftParenthesis: 21,
  rightParenthesis: 22,
  leftBrace: 23,
  rightBrace: 24,
  comment: 25,
} as const;

/** At-rules whose URLs are not pictures. */
const otherRules = new Set([
  '@import',
  '@namespace',
  '@charset',
  '@font-face',
  '@document',
  '@-moz-document',
]);

/** Finds the URLs of url() and image-set(), except in @import, @font-face and the like. */
export function cssUrls(css: string): FoundUrl[] {
  const found: FoundUrl[] = [];
  const functions: string[] = [];
  /** Whether this is one of the other rules, and how many braces are open in it. */
  let isOther = false;
  let depth = 0;
  const add = (start: number, end: number) => {
    if (!isOther) found.push({start, end, target: ident.decode(css.slice(start, end))});
  };
  tokenize(css, (token, start, end) => {
    switch (token) {
      case type.atKeyword:
        if (depth === 0) isOther = otherRules.has(css.slice(start, end).toLowerCase());
        break;
      case type.semicolon:
        if (depth === 0) isOther = false;
        break;
      case type.leftBrace:
        if (isOther) depth += 1;
        break;
      case type.rightBrace:
        if (depth > 0) depth -= 1;
        if (depth === 0) isOther = false;
        break;
      case type.function:
        functions.push(css.slice(start, end - 1).toLowerCase());
        break;
      case type.leftParenthesis:
        functions.push('');
        break;
      case type.rightParenthesis:
        functions.pop();
        break;
      case type.string:
        if (/^(url|src|(-webkit-)?image-set)$/.test(functions.at(-1) ?? ''))
          add(start + 1, end - (css.at(end - 1) === css.at(start) && end - start > 1 ? 1 : 0));
        break;
      case type.url: {
        const [, before = '', url = ''] = /^(url\(\s*)(.*?)\s*\)?$/is.exec(css.slice(start, end)) ?? [];
        add(start + before.length, start + before.length + url.length);
        break;
      }
    }
  });
  return found;
}

/** The references of a style sheet, which begins at `base` in its document. */
export function cssReferences(css: string, base = 0): Reference[] {
  return cssUrls(css).map(({start, end, target}) => ({
    start: base + start,
    end: base + end,
    source: css.slice(start, end),
    target,
    context: 'css',
    onlyMedia: true,
  }));
}
