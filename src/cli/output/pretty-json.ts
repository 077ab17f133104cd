import {paint} from './terminal.ts';

const tokens = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/** JSON on indented lines, for people: names bold and texts green if it is coloured. Numbers keep every digit. */
export function prettyJson(json: string, color: boolean): string {
  const all = json.match(tokens) ?? [];
  let indent = '';
  let pretty = '';
  for (const [index, token] of all.entries()) {
    const [before = '', after = ''] = [all[index - 1], all[index + 1]];
    if (/^[}\]]/.test(token)) {
      indent = indent.slice(2);
      pretty += /^[{[]/.test(before) ? token : `\n${indent}${token}`;
    } else if (/^[{[]/.test(token)) {
      indent += '  ';
      pretty += /^[}\]]/.test(after) ? token : `${token}\n${indent}`;
    } else if (token === ',') pretty += `,\n${indent}`;
    else if (token === ':') pretty += ': ';
    else if (token.startsWith('"')) pretty += paint(after === ':' ? 'bold' : 'green', token, color);
    else pretty += token;
  }
  return pretty;
}
