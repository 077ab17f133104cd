/** Whether the bytes at an offset equal a string with one character per byte. */
export function matches(bytes: Buffer, offset: number, text: string): boolean {
  return bytes.toString('latin1', offset, offset + text.length) === text;
}
