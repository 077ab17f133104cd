import {readFileSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {audiobook, latin1} from '../../../support/formats.ts';
import {fixture} from '../../../support/media.ts';
import {rules} from '../type-batch.ts';

describe('files that are no media under the names of media', () => {
  const text = latin1('The photo is on the other disk.\n');
  const appleDouble = Buffer.concat([latin1('\0\x05\x16\x07\0\x02\0\0Mac OS X'), Buffer.alloc(4000)]);

  const tooFew = [
    ['bad.png', 'x\n', 'image/png'],
    ['begin.png', '\x89PNG\r\n\x1a\n', 'image/png'],
    ['begin.jpg', '\xff\xd8\xff', 'image/jpeg'],
    ['begin.gif', 'GIF89a\x01\0\x01\0', 'image/gif'],
    ['bad.mp4', 'no', 'video/mp4'],
    ['bad.svg', '<svg>', 'image/svg+xml'],
    ['bad.psd', '8BPS', 'image/vnd.adobe.photoshop'],
    ['bad.wbmp', 'oops', 'image/vnd.wap.wbmp'],
  ] as const;

  it.each<[name: string, bytes: Buffer, what: string]>([
    ...tooFew.map(([name, bytes, type]): [string, Buffer, string] => [
      name,
      latin1(bytes),
      `too few for a file of type ${type}`,
    ]),
    ['photo.jpg', text, 'plain text'],
    ['._photo.jpg', appleDouble, 'an AppleDouble file'],
    ['song.mp4', readFileSync(fixture('song-named.mp4')), 'MP3 audio'],
    [
      'concert.mpg',
      readFileSync(fixture('audio-only.mpg')),
      'an MPEG program stream that contains only audio',
    ],
    ['book.m4b', audiobook('M4B ', [2, 3]), 'an MP4 file that contains only audio'],
    ['podcast.m4a', audiobook('M4A ', [3], 1), 'an MP4 file that contains only audio'],
    ['podcast.mp4', audiobook('mp42', [2, 3]), 'an MP4 file that contains only audio'],
    [
      'Thumbs.db',
      Buffer.concat([latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), text]),
      'a compound file such as an old Office document',
    ],
  ])('%s: refused before any request, exit 1', async (name, bytes, what) => {
    const {service, sandbox} = await connectedSandbox();
    await writeFile(join(sandbox.directory, name), bytes);
    for (const rule of rules) {
      const {stdout, stderr, exitCode} = await sandbox.run(['upload', name, '--types', rule]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      const sentence = `^media: .* is not recognised as an image or a video: .*the bytes are ${what.replace('+', '\\+')}\\.\\n`;
      expect(stderr).toMatch(new RegExp(`${sentence} {2}.+\\n$`));
    }
    expect(await service.records()).toEqual([]);
  });
});

describe('one file alone', () => {
  it.each(['unrecognised.png', 'png-named.jpg', 'truncated.mp4'])(
    '%s: sent all the same, exit 0',
    async file => {
      const {service, sandbox} = await connectedSandbox();
      const {stderr, exitCode} = await sandbox.run(['upload', fixture(file)]);
      const [stored] = await service.records();
      expect(await readFile(stored?.path ?? '')).toEqual(await readFile(fixture(file)));
      if (file === 'png-named.jpg') expect(stderr).toMatch(/^warning: .*--types content/);
      else expect(stderr).toBe('');
      expect(exitCode).toBe(0);
    },
  );
});
