/** The URLs of a srcset attribute's value with their offsets, as the HTML standard parses its candidates. */
export function srcsetUrls(value: string): {start: number; end: number; target: string}[] {
  const urls: {start: number; end: number; target: string}[] = [];
  for (let at = 0; at < value.length; ) {
    at = skip(value, at, /[\s,]/);
    const start = at;
    at = skip(value, at, /\S/);
    const url = value.slice(start, at);
    const target = url.replace(/,+$/, '');
    if (target !== '') urls.push({start, end: start + target.length, target});
    // A URL that ends with a comma has no descriptors; those end at a comma outside parentheses.
    if (url === target) at = endOfDescriptors(value, at);
  }
  return urls;
}

function skip(text: string, from: number, pattern: RegExp): number {
  let at = from;
  while (at < text.length && pattern.test(text.charAt(at))) at += 1;
  return at;
}

function endOfDescriptors(value: string, from: number): number {
  let isInParentheses = false;
  for (let at = from; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === '(') isInParentheses = true;
    else if (character === ')') isInParentheses = false;
    else if (character === ',' && !isInParentheses) return at + 1;
  }
  return value.length;
}
