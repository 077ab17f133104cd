import type {Reference} from './reference.ts';
import {isLocal} from './reference.ts';

/** `key: value` of YAML and `key = value` of TOML, on one line, at any depth. */
const entry = /^([ \t]*(?:- +)?(["']?)([\w.-]+)\2[ \t]*[:=][ \t]*)(.*)$/;

/** Finds the values of these keys that are written on the line of their key. */
export function frontMatterReferences(text: string, base: number, keys: readonly string[]): Reference[] {
  const found: Reference[] = [];
  let at = base;
  for (const line of text.split(/(?<=\n)/)) {
    const [, before = '', , key = '', rest = ''] = entry.exec(line.replace(/[\r\n]+$/, '')) ?? [];
    const value = keys.includes(key) ? scalar(rest) : undefined;
    if (value !== undefined && isLocal(value.target)) {
      const start = at + before.length + value.start;
      const {source, target, context} = value;
      found.push({start, end: start + source.length, source, target, context, onlyMedia: false});
    }
    at += line.length;
  }
  return found;
}

type Scalar = Pick<Reference, 'start' | 'source' | 'target' | 'context'>;

function scalar(text: string): Scalar | undefined {
  const quoted = /^(["'])(.*?)\1[ \t]*(#.*)?$/.exec(text);
  if (quoted !== null) {
    const source = quoted[2] ?? '';
    // A value with escapes would need another parser.
    return /[\\"']/.test(source) ? undefined : {start: 1, source, target: source, context: 'quoted'};
  }
  const source = text.replace(/[ \t]#.*$/, '').trimEnd();
  return source === '' || /^[[{&*!|>%@`"']/.test(source)
    ? undefined
    : {start: 0, source, target: source, context: 'plain'};
}
