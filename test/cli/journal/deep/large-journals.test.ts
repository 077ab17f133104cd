import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {bench, formatTransition, header, sha256, type Transition} from '../../../support/journal.ts';
import {journalOf, media} from '../media-journal.ts';

describe('media journal list', () => {
  it('the last of 80,000 contents of one path, soon', async () => {
    const one = await bench();
    const intent = {event: 'intent', path: 'webcam.jpg', size: 1, contentType: 'image/jpeg'} as const;
    const lines = Array.from({length: 80_000}, (_, index) =>
      formatTransition({...intent, key: `k${index}`}, 'w'),
    );
    await writeFile(join(one.directory, 'j'), `${header}\n${lines.join('')}`);
    expect((await media(one, 'list', 'j')).stdout).toBe('pending   webcam.jpg  not sent completely\n');
  });

  it('a thousand uploads: each with its own ID, however the journal is read', async () => {
    const one = await bench();
    const lines = Array.from({length: 1000}, (_, at): Transition[] => [
      {event: 'intent', key: `${at}`, path: `${at}.png`, size: 4, contentType: 'image/png'},
      {event: 'commit', key: `${at}`, sha256: sha256(`${at}`)},
      {event: 'done', key: `${at}`, recordJson: `{"id":"med_${at}","note":"${'x'.repeat(at)}"}`},
    ]).flat();
    const text = lines.map(line => formatTransition(line, 'w')).join('');
    await one.write(`${header}\n${text}`, join(one.directory, 'j'));
    const {stdout} = await media(one, 'list', 'j');
    expect(stdout.split('\n').slice(0, -1)).toEqual(
      Array.from({length: 1000}, (_, at) => `uploaded  ${at}.png  med_${at}`),
    );
  });
});

describe('media journal merge', () => {
  it('100 shards, more than are kept open', async () => {
    const one = await bench();
    const names = Array.from({length: 100}, (_, index) => `j${index}`);
    for (const name of names) await journalOf(one, name, {[name]: ['done', `med_${name}`], x: ['failed']});
    await journalOf(one, 'j50', {x: ['done', 'med_x']});
    expect(await media(one, 'merge', '-o', 'all', ...names)).toMatchObject({exitCode: 0, stdout: ''});
    expect((await media(one, 'list', 'all')).stdout.split('\n')).toHaveLength(102);
  });
});
