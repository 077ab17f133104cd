/** A value of JSON as it is written: parsing it could change its numbers and the order of its members. */
export interface RawJson {
  json: string;
  /** Where it begins in the text; a member of an object begins with its name. */
  offset: number;
  members: Map<string, RawJson>;
}

const string = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const scalar = new RegExp(`${string.source}|${number.source}|true|false|null`, 'y');

const noMembers = new Map<string, RawJson>();

/**
 * Reads JSON that is nested at most `deepest` levels, with the members of objects on the first of its `levels`. Calls
 * `fail` where it is not JSON, or where an object has a name twice with different values.
 */
export function readRawJson(
  text: string,
  {levels, deepest}: {levels: number; deepest: number},
  fail: (offset: number, what: string) => never,
): RawJson {
  let at = 0;
  /** Whether the text goes on with a pattern, which is then read. */
  const takes = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const skipBlanks = () => {
    while (' \t\r\n'.includes(text[at] ?? 'end')) at += 1;
  };
  /** The same for a character, after any blanks. */
  const takesMark = (mark: string) => {
    skipBlanks();
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };
  const require = (isThere: boolean) => isThere || fail(at, 'is not valid JSON');
  /** Reads the next value, which is in this many others. */
  const read = (depth: number): RawJson => {
    skipBlanks();
    const offset = at;
    // Most values are scalars, or deeper than anybody asks.
    const members = depth < levels && text[at] === '{' ? new Map<string, RawJson>() : noMembers;
    const close = text[at] === '{' ? '}' : ']';
    if (!takesMark('{') && !takesMark('[')) require(takes(scalar));
    else {
      require(depth < deepest);
      for (let isFirst = true; !takesMark(close); isFirst = false) {
        require(isFirst || takesMark(','));
        skipBlanks();
        const start = at;
        if (close === ']') read(depth + 1);
        else {
          require(takes(string));
          const name: string = JSON.parse(text.slice(start, at));
          require(takesMark(':'));
          const value = read(depth + 1);
          value.offset = start;
          if ((members.get(name) ?? value).json !== value.json)
            fail(start, `has ${JSON.stringify(name)} again, with another value`);
          if (depth < levels) members.set(name, value);
        }
      }
    }
    return {json: text.slice(offset, at), offset, members};
  };
  const whole = read(0);
  skipBlanks();
  require(at === text.length);
  return whole;
}
