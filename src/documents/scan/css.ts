import {tokenize, tokenTypes} from 'css-tree/tokenizer';
import {ident} from 'css-tree/utils';
import type {Reference} from './reference.ts';

/** A URL in a text: the range of its text without quotes, and what it refers to. */
export type FoundUrl = Pick<Reference, 'start' | 'end' | 'target'>;

/** At-rules whose URLs are not pictures. */
const otherRule = /^@(?:import|namespace|charset|font-face|document|-moz-document)$/i;

/** Finds the URLs of url() and image-set(), except in @import, @font-face and the like. */
export function cssUrls(css: string): FoundUrl[] {
  const urls: FoundUrl[] = [];
  const functions: string[] = [];
  /** Whether this is one of the other rules, and how many braces are open in it. */
  let isOther = false;
  let depth = 0;
  const add = (start: number, end: number) => {
    if (!isOther) urls.push({start, end, target: ident.decode(css.slice(start, end))});
  };
  tokenize(css, (token, start, end) => {
    switch (token) {
      case tokenTypes.AtKeyword:
        if (depth === 0) isOther = otherRule.test(css.slice(start, end));
        break;
      case tokenTypes.Semicolon:
        if (depth === 0) isOther = false;
        break;
      case tokenTypes.LeftCurlyBracket:
        if (isOther) depth += 1;
        break;
      case tokenTypes.RightCurlyBracket:
        if (depth > 0) depth -= 1;
        if (depth === 0) isOther = false;
        break;
      case tokenTypes.Function:
        functions.push(css.slice(start, end - 1).toLowerCase());
        break;
      case tokenTypes.LeftParenthesis:
        functions.push('');
        break;
      case tokenTypes.RightParenthesis:
        functions.pop();
        break;
      case tokenTypes.String:
        if (/^(url|src|(-webkit-)?image-set)$/.test(functions.at(-1) ?? ''))
          add(start + 1, end - (css.at(end - 1) === css.at(start) && end - start > 1 ? 1 : 0));
        break;
      case tokenTypes.Url: {
        const [, before = '', url = ''] = /^(url\(\s*)(.*?)\s*\)?$/is.exec(css.slice(start, end)) ?? [];
        add(start + before.length, start + before.length + url.length);
        break;
      }
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
