import type {Reference} from './reference.ts';
import {isLocal} from './reference.ts';

/** `key: value` of YAML and `key = value` of TOML, on one line, at any depth. */
const entry = /^([ \t]*(?:- +)?(["']?)([\w.-]+)\2[ \t]*[:=][ \t]*)(.*)$/;

/** The value in a line of the front matter, without its end, if the line begins with one of these keys; `base` is its offset. */
export function frontMatterReference(
  line: string,
  base: number,
  keys: readonly string[],
): Reference | undefined {
  const [, before = '', , key = '', rest = ''] = entry.exec(line) ?? [];
  const value = keys.includes(key) ? scalar(rest) : undefined;
  if (value === undefined || !isLocal(value.target)) return undefined;
  const start = base + before.length + value.start;
  return {...value, start, end: start + value.source.length, onlyMedia: false};
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
