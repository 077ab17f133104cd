import type {Token} from 'micromark-util-types';
import {javascriptTokens} from './mdx.ts';
import {type LeftCounts, type LeftKind, namesLocalMedia, type Reference} from './reference.ts';

export const codeToken = /^code(?:Fenced|Indented|Text)$/;
const javascript =
  /^(?:mdxjsEsm|mdx(?:Flow|Text)Expression|mdxJsx(?:Flow|Text)Tag(?:AttributeValueExpression|ExpressionAttribute))$/;

/** Shortcodes of Hugo, unless they are written to be shown, and what other template engines fill in. */
const templates = /\{\{([<%])(?!\/\*)[^{}]*[>%]\}\}|\{%[^{}]*%\}|\{\{(?![<%])[^{}]*\}\}[^\s"'()<>]*/g;
const words = /"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`|([^\s"'`=,()[\]{}<>|]+)/g;

/** How many names of local media, besides references, are in the front matter and in Markdown with these tokens. */
export function leftAlone(
  text: string,
  frontMatterEnd: number,
  tokens: readonly Token[],
  references: readonly Reference[],
): LeftCounts {
  const counts: LeftCounts = {};
  const add = (kind: LeftKind, count: number) => {
    if (count > 0) counts[kind] = (counts[kind] ?? 0) + count;
  };
  const notProse: Pick<Reference, 'start' | 'end'>[] = [...references];
  for (const {type, start, end} of tokens) {
    const place = {start: start.offset, end: end.offset};
    const isScript = javascript.test(type);
    if (isScript) addScript(text.slice(place.start, place.end), add);
    const isComment = type.startsWith('html') && text.startsWith('<!--', place.start);
    if (isScript || isComment || codeToken.test(type)) notProse.push(place);
  }
  // Blanks take the place of what is not prose, so that all else stays in its place.
  let prose = '';
  for (const {start, end} of notProse.sort((a, b) => a.start - b.start))
    prose = (prose + text.slice(prose.length, start)).padEnd(end);
  prose += text.slice(prose.length);
  add('front-matter', namesIn(prose.slice(0, frontMatterEnd)));
  for (const [whole, sign] of prose.slice(frontMatterEnd).matchAll(templates))
    add(sign === undefined ? 'template' : 'shortcode', Math.min(1, namesIn(whole)));
  return counts;
}

/** Counts names in the strings of a script: as `import` after that word or `from`, else as `expression`. */
function addScript(script: string, add: (kind: LeftKind, count: number) => void): void {
  for (const {0: token, index} of script.matchAll(javascriptTokens)) {
    if (!/^["'`]./.test(token)) continue;
    const isImport = /\b(?:from|import)\s*$/.test(script.slice(Math.max(0, index - 20), index));
    add(isImport ? 'import' : 'expression', namesIn(token));
  }
}

/** How many words of a text name local media. */
function namesIn(text: string): number {
  const matches = [...text.matchAll(words)].map(([, ...groups]) => groups.find(word => word !== undefined));
  return matches.filter((word = '') => namesLocalMedia(word)).length;
}
