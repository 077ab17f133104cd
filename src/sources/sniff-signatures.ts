/** Bytes that name a type beyond doubt; what is not here, file-type knows, at the price of loading it. */
const signatures: readonly (readonly [bytes: string, type: string])[] = [
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\xff\xd8\xff\xf7', 'image/jls'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['qoif', 'image/qoi'],
  ['DDS ', 'image/vnd.ms-dds'],
  ['\x76\x2f\x31\x01', 'image/x-exr'],
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['PK\x05\x06', 'application/zip'],
  ['\x1f\x8b\x08', 'application/gzip'],
];

/** The type that the first bytes of a file name beyond doubt, if they do. */
export function sniffSignature(head: Uint8Array): string | undefined {
  if (matches(head, 0, '\x89PNG\r\n\x1a\n')) return pngType(head);
  if (matches(head, 0, 'RIFF') && matches(head, 8, 'WEBP')) return 'image/webp';
  if (matches(head, 0, 'RIFF') && matches(head, 8, 'AVI ')) return 'video/x-msvideo';
  const known = signatures.find(([bytes]) => matches(head, 0, bytes));
  if (known !== undefined) return known[1];
  return isTransportStream(head) ? 'video/mp2t' : undefined;
}

/** Whether the bytes at an offset are these, one character of the string a byte. */
export function matches(bytes: Uint8Array, offset: number, expected: string): boolean {
  if (offset + expected.length > bytes.length) return false;
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[offset + index] !== expected.charCodeAt(index)) return false;
  }
  return true;
}

/** A DataView of the bytes, for numbers of more than one byte. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// An animation says so ahead of the picture's data (PNG, third edition, 11.3.6).
function pngType(head: Uint8Array): string {
  const view = viewOf(head);
  let position = 8;
  while (position + 8 <= head.length && !matches(head, position + 4, 'IDAT')) {
    if (matches(head, position + 4, 'acTL')) return 'image/apng';
    position += 12 + view.getUint32(position);
  }
  return 'image/png';
}

/**
 * Whether packets follow each other at the distances of an MPEG transport stream: 188 bytes, 192 with a time stamp,
 * 204 with error correction. A capture may begin within a packet; the fewer packets, the stricter.
 */
export function isTransportStream(head: Uint8Array): boolean {
  for (const distance of [188, 192, 204]) {
    for (let start = 0; start < distance; start += 1) {
      if (head[start] !== 0x47) continue;
      const atBoundary = start === 0 || (start === 4 && distance === 192);
      if (packetsFollow(head, start, distance, atBoundary ? 3 : 5)) return true;
    }
  }
  return false;
}

function packetsFollow(head: Uint8Array, start: number, distance: number, least: number): boolean {
  const whole = Math.floor((head.length - start) / distance);
  if (whole < least) return false;
  for (let packet = 0; packet < Math.min(whole, 8); packet += 1) {
    const position = start + packet * distance;
    // The sync byte is the letter G: the next bytes must hold neither an error nor the reserved "no content" (H.222.0, 2.4.3).
    const isPacket = head[position] === 0x47 && ((head[position + 1] ?? 0x80) & 0x80) === 0;
    if (!isPacket || ((head[position + 3] ?? 0) & 0x30) === 0) return false;
  }
  return true;
}

/** Checks of what file-type concludes from a few bytes, which any file may begin with; false where we know better. */
const confirmations = new Map<string, (head: Uint8Array, size: number) => boolean>([
  ['image/bmp', head => [12, 16, 40, 52, 56, 64, 108, 124].includes(uint32(head, 14))],
  ['image/gif', () => false],
  ['image/x-icon', isIconDirectory],
  ['video/mp2t', () => false],
  ['video/quicktime', () => false],
  ['application/postscript', head => matches(head, 0, '%!PS')],
  ['application/x-msdownload', isExecutable],
  ['application/x-apple-diskimage', () => false],
  ['application/x-arj', () => false],
  ['application/x-compress', () => false],
  ['application/x-cpio', head => matches(head, 0, '07070')],
  ['audio/vnd.dolby.dd-raw', () => false],
]);

/** Whether a type that file-type reports is more than a coincidence of a few bytes. */
export function isConfirmed(type: string, head: Uint8Array, size: number): boolean {
  return confirmations.get(type)?.(head, size) ?? true;
}

/** A cursor has the layout of an icon, and another number in its header. */
export function isCursor(head: Uint8Array): boolean {
  return matches(head, 0, '\0\0\x02\0');
}

// An uncompressed TGA begins like a cursor: the first picture has to lie within the file, behind the directory.
function isIconDirectory(head: Uint8Array, size: number): boolean {
  if (head.length < 22) return false;
  const count = viewOf(head).getUint16(4, true);
  const offset = uint32(head, 18);
  const liesWithin = offset >= 6 + 16 * count && offset < size;
  return count > 0 && head[9] === 0 && uint32(head, 14) > 0 && liesWithin;
}

function isExecutable(head: Uint8Array, size: number): boolean {
  const offset = uint32(head, 60);
  return offset < size && (matches(head, offset, 'PE\0\0') || matches(head, offset, 'NE'));
}

function uint32(head: Uint8Array, offset: number): number {
  return offset + 4 <= head.length ? viewOf(head).getUint32(offset, true) : 0;
}
