/** For each byte, 1 if a JSON text ends there or needs a parser: a quote, a backslash or a control character. */
export const textStops = stopsAt(byte => byte < 0x20 || byte === 0x22 || byte === 0x5c);

/** The same, and also 1 for bytes that are not ASCII. */
export const asciiStops = stopsAt(byte => textStops[byte] === 1 || byte >= 0x7f);

/** For each byte, 1 if it is not a digit. */
export const digitStops = stopsAt(byte => !isDigit(byte));

function stopsAt(isStop: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({length: 256}, (_, byte) => (isStop(byte) ? 1 : 0));
}

/** Whether a byte is a decimal digit. */
export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Whether these bytes are at this offset. */
export function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let each = 0; each < expected.length; each += 1) if (bytes[at + each] !== expected[each]) return false;
  return true;
}
