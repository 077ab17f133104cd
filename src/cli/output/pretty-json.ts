import {paint} from './terminal.ts';

/** Texts with the colon after a name, empty lists and objects, other brackets and commas, and white space. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|([[{])\s*([}\]])|[[{}\],]|\s+/g;

/** JSON on indented lines, for people: names bold and texts green if it is coloured. Numbers keep every digit. */
export function prettyJson(json: string, color: boolean): string {
  let lineBreak = '\n';
  return json.replace(tokens, (token, text?: string, colon?: string, open?: string, close?: string) => {
    if (text !== undefined) return colon ? `${paint('bold', text, color)}: ` : paint('green', text, color);
    if (open !== undefined) return `${open}${close}`;
    if (token === ',') return `,${lineBreak}`;
    const isOpening = token === '[' || token === '{';
    if (!isOpening && token !== ']' && token !== '}') return '';
    lineBreak = isOpening ? `${lineBreak}  ` : lineBreak.slice(0, -2);
    return isOpening ? `${token}${lineBreak}` : `${lineBreak}${token}`;
  });
}
