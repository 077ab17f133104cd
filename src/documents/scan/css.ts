import {tokenize, tokenTypes} from 'css-tree/tokenizer';
import {ident} from 'css-tree/utils';
import type {Reference} from './reference.ts';

/** A URL in a text: the range of its text without quotes, and what it refers to. */
export type FoundUrl = Pick<Reference, 'start' | 'end' | 'target'>;

/** Finds the URLs of url() and image-set(), except in @import, @font-face and the like. */
export function cssUrls(css: string): FoundUrl[] {
  const urls: FoundUrl[] = [];
  const otherRule = /^@(?:import|namespace|charset|font-face|document|-moz-document)$/i;
  const functions: string[] = [];
  /** Whether this is one of the other rules, and how many braces are open in it. */
  let isOther = false;
  let depth = 0;
  const add = (start: number, end: number) => {
    if (!isOther) urls.push({start, end, target: ident.decode(css.slice(start, end))});
  };
  tokenize(css, (token, start, end) => {
    const text = css.slice(start, end);
    if (token === tokenTypes.AtKeyword && depth === 0) isOther = otherRule.test(text);
    else if (token === tokenTypes.LeftCurlyBracket && isOther) depth += 1;
    else if (token === tokenTypes.RightCurlyBracket || token === tokenTypes.Semicolon) {
      if (token === tokenTypes.RightCurlyBracket) depth = Math.max(0, depth - 1);
      if (depth === 0) isOther = false;
    } else if (token === tokenTypes.Function) functions.push(text.slice(0, -1).toLowerCase());
    else if (token === tokenTypes.LeftParenthesis) functions.push('');
    else if (token === tokenTypes.RightParenthesis) functions.pop();
    else if (token === tokenTypes.String && /^(url|src|(-webkit-)?image-set)$/.test(functions.at(-1) ?? ''))
      add(start + 1, end - (text.at(-1) === text[0] && text.length > 1 ? 1 : 0));
    else if (token === tokenTypes.Url) {
      const [, before = '', url = ''] = /^(url\(\s*)(.*?)\s*\)?$/is.exec(text) ?? [];
      add(start + before.length, start + before.length + url.length);
    }
  });
  return urls;
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
