import {afterEach, describe, expect, it} from 'vitest';
import {scanDocument} from '../../../src/documents/scan/scan.ts';
import {Scanner} from '../../../src/documents/scanner.ts';
import {usualScan} from '../rewritten.ts';

const photo = '![a](photo.png)\n\n';
/** Thousands of short lists take a parser a time that grows with their square. */
const slow = `${photo}${'- a\n- b\n\ntext\n\n'.repeat(6_000)}`;

let scanner: Scanner;
afterEach(() => scanner.end());

const scan = async (name: string, text: string) =>
  (await scanner.scan(name, {kind: 'markdown', text, options: usualScan})).references;

describe('Scanner', () => {
  it('a document that takes too long: refused by name, others are scanned; after a time for all such documents, untried', async () => {
    scanner = new Scanner({processorMs: 200, togetherMs: 300, remainingMs: 100});
    const messages: unknown[] = [];
    // On a busy machine, one of them may use up the time of all.
    for (const name of ['a.md', 'b.md', "it's c.md"]) {
      const error = await scan(name, slow).catch((reason: unknown) => reason);
      expect(error).toMatchObject({code: 'document_too_complex'});
      messages.push(error);
      expect(await scan('photo.md', photo)).toHaveLength(1);
    }
    expect(messages[0]).toMatchObject({
      message: 'a.md is too complex: its references were not found in 0.2 seconds.',
    });
    expect(messages[2]).toMatchObject({
      message: "it's c.md was not checked: complex documents before it took 0.3 seconds.",
      hint: 'Run the same command for this document only.',
    });
  }, 120_000);

  it('many words after a bracket that stays open: read within the limits', async () => {
    scanner = new Scanner();
    expect(await scan('a.md', `[a${' mail'.repeat(100_000)} ${photo}`)).toHaveLength(1);
  }, 120_000);

  it('MDX of less than 16 KiB that takes too long: refused, too', async () => {
    scanner = new Scanner({processorMs: 300});
    const text = `${photo}{${'/*}'.repeat(5_000)}\n`;
    await expect(scanner.scan('a.mdx', {kind: 'mdx', text, options: usualScan})).rejects.toMatchObject({
      code: 'document_too_complex',
    });
  }, 120_000);

  it.each([
    ['lists', '- '],
    ['ordered lists', '1) '],
    ['footnotes', '[^a]: '],
  ])(
    'less than 16 KiB with many levels of %s: refused, too',
    async (_, level) => {
      scanner = new Scanner({processorMs: 100});
      await expect(scan('a.md', `${photo}${level.repeat(900)}a${'\n'.repeat(2_000)}`)).rejects.toMatchObject({
        code: 'document_too_complex',
      });
    },
    120_000,
  );

  it('a document that takes too much memory: refused by name, others are scanned', async () => {
    scanner = new Scanner({heapMiB: 16});
    await expect(scan('a.md', slow)).rejects.toMatchObject({
      code: 'document_too_complex',
      message: 'a.md is too complex: its references could not be found in 16 MiB of memory.',
    });
    expect(await scan('b.md', photo)).toHaveLength(1);
  }, 120_000);

  it('documents that the other thread scans: the same references, one document after the other', async () => {
    scanner = new Scanner({lengthHere: 0});
    for (const text of [photo.repeat(400), `> ${photo}`.repeat(100)])
      expect(await scan('a.md', text)).toEqual((await scanDocument('markdown', text, usualScan)).references);
    await expect(scan('a.md', `${'> '.repeat(1_001)}a\n\n${photo.repeat(200)}`)).rejects.toMatchObject({
      message: 'a.md is too complex: it is nested more than 1,000 levels deep.',
    });
  }, 120_000);
});
