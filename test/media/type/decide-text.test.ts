import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {decideContentType} from '../../../src/media/type/decide.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const subset = `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
  <!-- a comment with ]> and "one quote -->
  <!ENTITY ns "http://example.org/a>b]c">
  <?a ]> ?>
  <!ENTITY other 'x]>'>
]>`;

/** What a file is, by its bytes alone if it is named `a.bin`: its type, or what the refusal says. */
async function typeOf(content: string | Uint8Array, name = 'a.bin', isFound = false): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  try {
    return (await decideContentType(name, {size: bytes.length, read}, 'extension', isFound)).contentType;
  } catch (error) {
    if (error instanceof MediaError) return error.message.replace(/^.*the bytes (?:say |are )?|\.$/g, '');
    throw error;
  }
}

function utf16(text: string, order: 'le' | 'be'): Uint8Array {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

describe('SVG', () => {
  test.each([
    ['bare', svg],
    ['behind white space', `\n\t ${svg}`],
    ['behind a byte order mark', `\ufeff${svg}`],
    ['behind a mark and an XML declaration', `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n${svg}`],
    ['behind comments that speak of HTML', `<!-- <html> --><!----><!-- > -->${svg}`],
    ['behind a processing instruction', `<?xml version="1.0"?><?xml-stylesheet href="a.css"?>${svg}`],
    ['behind a document type', `<!DOCTYPE svg>${svg}`],
    ['behind an internal subset', `<?xml version="1.0"?>${subset}${svg}`],
    ['with a namespace prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"></s:svg>'],
    ['with a prefix beyond ASCII', '<é:svg xmlns:é="http://www.w3.org/2000/svg"/>'],
    ['without a namespace', '<svg width="1" height="1"></svg>'],
    ['with a line break after the name', '<svg\n  width="1"/>'],
    ['behind 60 kB of comment', `<!--${'-x'.repeat(30_000)}-->${svg}`],
  ])('%s', async (_form, text) => {
    expect(await typeOf(text)).toBe('image/svg+xml');
    expect(await typeOf(utf16(`\ufeff${text.replace('\ufeff', '')}`.slice(0, 30_000), 'le'))).toMatch(
      /svg|text with markup/,
    );
  });

  test.each([
    ['UTF-16, little end first', utf16(`\ufeff${svg}`, 'le')],
    ['UTF-16, big end first', utf16(`\ufeff${svg}`, 'be')],
    [
      'UTF-16 with a declaration',
      utf16(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${subset}${svg}`, 'le'),
    ],
    ['UTF-16 without a mark, little end first', utf16(`<?xml version="1.0"?>${svg}`, 'le')],
    ['UTF-16 without a mark, big end first', utf16(svg, 'be')],
    ['ISO 8859-1', Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><!-- \xe9 -->${svg}`, 'latin1')],
  ])('in %s', async (_encoding, bytes) => {
    expect(await typeOf(bytes)).toBe('image/svg+xml');
  });

  test('whose root element lies past the first 64 KiB counts by its name', async () => {
    const bytes = new TextEncoder().encode(`<?xml version="1.0"?><!--${'x'.repeat(70_000)}-->${svg}`);
    const read = async (position: number, length: number) => bytes.subarray(position, position + length);
    expect(await decideContentType('a.svg', {size: bytes.length, read}, 'extension')).toEqual({
      contentType: 'image/svg+xml',
    });
  });
});

describe('no SVG', () => {
  test.each([
    ['HTML that holds one', `<!DOCTYPE html><body>${svg}</body>`, 'an HTML page'],
    [
      'XHTML that holds one',
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${svg}</html>`,
      'an HTML page',
    ],
    ['XML that holds one', `<?xml version="1.0"?><report>${svg}</report>`, 'an XML document'],
    ['an element of another name', '<svgx></svgx>', 'an XML document'],
    ['a comment about one', `<!-- ${svg} -->`, 'text with markup'],
    ['a subset that never ends', `<!DOCTYPE svg [ ${svg}`, 'text with markup'],
    ['the word alone', 'svg', 'not recognised'],
    ['an open bracket', '<', 'not recognised'],
    ['UTF-16 with HTML', utf16('\ufeff<html><svg/></html>', 'le'), 'an HTML page'],
  ])('%s', async (_kind, content, found) => {
    expect(await typeOf(content)).toBe(found);
  });
});

test.each([
  ['notes.md', false],
  ['page.html', false],
  ['icon.xml', true],
  ['icon.bin', true],
  ['icon', true],
])('%s that begins like an SVG: one if it is given; in a walk: %s', async (name, isPicture) => {
  expect(await typeOf(svg, name)).toBe('image/svg+xml');
  expect((await typeOf(svg, name, true)) === 'image/svg+xml').toBe(isPicture);
});

describe('a text that was made to take long takes no time', () => {
  test.each([
    '<!--',
    '<!---->',
    '<?',
    '<!DOCTYPE a ',
    '<!DOCTYPE a [',
    '<!DOCTYPE a ["',
    '\'"',
    '<a',
    '<',
    '[',
    '[ ',
    '{"',
    '{"a',
    ' ',
    '\n<',
    '<!DOCTYPE a [<!--',
  ])('%j', async piece => {
    const before = process.cpuUsage();
    expect(await typeOf(piece.repeat(Math.ceil(70_000 / piece.length)))).toMatch(
      /^(plain text|text with markup)$/,
    );
    // Not by the clock, which goes on while other programs run.
    const {user, system} = process.cpuUsage(before);
    expect(user + system).toBeLessThan(1_000_000);
  });
});
