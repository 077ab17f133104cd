import {htmlFlow, htmlText} from 'micromark-core-commonmark';
import {mdxExpression} from 'micromark-extension-mdx-expression';
import {mdxJsx} from 'micromark-extension-mdx-jsx';
import {mdxMd} from 'micromark-extension-mdx-md';
import {mdxjsEsm} from 'micromark-extension-mdxjs-esm';
import type {Construct, Extension, State} from 'micromark-util-types';
import {literal} from './expect-codes.ts';

/** Comments and text of JavaScript, also without their end, and brackets. An apostrophe in a word is neither. */
export const javascriptTokens =
  /\/\*.*?\*\/|(?<!:)\/\/[^\n]*|`(?:[^\\`]|\\.)*`|(?<!\w)(["'])(?:(?!\1)[^\\\n]|\\.)*\1|(\/\*|`|(?<!\w)["'](?=[^\n]*$))|[([{]|[)\]}]/gs;

/** Throws, as acorn does, if code ends inside of something. */
function checkEnd(code: string): void {
  let depth = 0;
  for (const [token, , open] of code.matchAll(javascriptTokens)) {
    if (open !== undefined || depth < 0) depth = Number.NaN;
    else if (/^[([{]$/.test(token)) depth += 1;
    else if (/^[)\]}]$/.test(token)) depth -= 1;
  }
  if (depth !== 0)
    throw Object.assign(new SyntaxError('This has no end.'), {pos: code.length, raisedAt: code.length});
}

/** In the place of acorn (240 kB), which micromark asks where code ends. Nobody looks at its trees. */
const acorn = {
  parse: (code: string) => {
    checkEnd(code);
    return {type: 'Program' as const, start: 0, end: code.length, body: [], sourceType: 'module' as const};
  },
  parseExpressionAt: (code: string) => {
    checkEnd(code);
    return {type: 'ObjectExpression' as const, start: 0, end: code.length, properties: []};
  },
};

/** HTML comments, which Docusaurus allows in MDX. */
function comment(html: Construct): Construct {
  return {
    ...html,
    name: 'comment',
    // As HTML, but only if the text begins like a comment.
    tokenize(effects, ok, nok): State {
      const begin = {partial: true, tokenize: literal('<!--')};
      return effects.check(begin, html.tokenize.call(this, effects, ok, nok), nok);
    },
  };
}

/** Syntax extensions for micromark that make MDX of Markdown. */
export const mdx: readonly Extension[] = [
  mdxjsEsm({acorn}),
  mdxExpression({acorn}),
  mdxJsx({acorn}),
  mdxMd(),
  {flow: {60: comment(htmlFlow)}, text: {60: comment(htmlText)}},
];

/** A text of the same length without Docusaurus' names of headings, `{#name}`, which are not JavaScript. */
export function withoutHeadingIds(text: string): string {
  return text.replace(/^( {0,3}#{1,6}[ \t].*)\{(#[^{}\s]+)\}(?=[ \t]*$)/gm, '$1($2)');
}
