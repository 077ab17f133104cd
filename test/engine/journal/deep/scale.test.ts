import {once} from 'node:events';
import {createWriteStream} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {bench, formatTransition, header, inputOf, readJournals, sha256} from '../../../support/journal.ts';
import {collectGarbage, memoryUsed} from '../../../support/memory-used.ts';
import {slowTest} from '../../../support/patience.ts';

const count = 40_000;
const pathOf = (index: number) => `library/2024/album-${index % 500}/photograph-${index}.jpeg`;
const statOf = (index: number) => `${index} ${index} 1 2`;
const keyOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

async function writeJournal(path: string): Promise<void> {
  const stream = createWriteStream(path);
  stream.write(`${header}\n`);
  for (let index = 0; index < count; index += 1) {
    const key = keyOf(index);
    const hash = sha256(key);
    const {size, contentType} = inputOf('', 'content');
    const recordJson = JSON.stringify({
      id: `med_${index}`,
      urls: [{variant: 'PUBLIC', url: `https://media.example/${key}`}],
    });
    const text = [
      formatTransition(
        {
          event: 'intent',
          key,
          path: pathOf(index),
          size,
          stat: statOf(index),
          types: 'extension',
          contentType,
        },
        'w',
      ),
      formatTransition({event: 'commit', key, sha256: hash}, 'w'),
      '{"event":"release","by":"w"}\n',
      formatTransition({event: 'done', key, recordJson}, 'w'),
    ].join('');
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

describe('a journal of 40,000 inputs', () => {
  it('is read into less than 280 bytes each, and every record is found', slowTest, async () => {
    const one = await bench();
    await writeJournal(one.path);
    collectGarbage();
    const before = memoryUsed();
    const [reader] = await readJournals([one.path], one.host);
    expect(reader?.index.size).toBe(count);
    // Buffers are freed by another thread, some time after the collection.
    await eventually(() => {
      collectGarbage();
      return memoryUsed() - before < 280 * count;
    });
    await one.run(async journal => {
      for (const index of [0, 1, count / 2, count - 1]) {
        const times = BigInt(index);
        const stat = {mtimeNs: times, ctimeNs: times, dev: 1n, ino: 2n};
        expect(await journal.lookUpUnchanged({...inputOf(pathOf(index), 'content'), stat})).toMatchObject({
          received: {json: expect.stringContaining(`"id":"med_${index}"`)},
        });
      }
    });
  });
});
