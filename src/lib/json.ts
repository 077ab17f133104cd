/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON.parse accepts any depth, but code that walks the value would overflow its stack. */
const deepestNesting = 500;

/** Whether a text is nested too deeply to be read; the text need not be JSON. */
export function isNestedTooDeeply(text: string, deepest = deepestNesting): boolean {
  // Each level takes two characters.
  if (text.length <= 2 * deepest) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isString) {
      if (unit === backslash) at += 1;
      else if (unit === quote) isString = false;
    } else if (unit === quote) isString = true;
    else if (unit === openBracket || unit === openBrace) depth += 1;
    else if (unit === closeBracket || unit === closeBrace) depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** Parses a JSON object, whose members may add `wrapping` levels; undefined for anything else and for what is nested too deeply. */
export function parseObject(text: string, {wrapping = 0} = {}): Record<string, unknown> | undefined {
  if (isNestedTooDeeply(text, deepestNesting + wrapping)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
