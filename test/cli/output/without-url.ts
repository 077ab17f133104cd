import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fixture, sandbox} from '../../support/media.ts';
import {scriptedServer} from '../../support/scripted-server.ts';

export const names = ['photo.jpg', 'photo.png', 'photo.gif'];

/** What is said of the one that is a PNG. */
export const none = 'photo.png was stored, but the service returned no URL for it.';
export const empty = 'photo.png: The service returned no URL for it, so that its value is empty.';

/** A machine with three pictures; the service returns `fields` in place of the URL of the one that is a PNG. */
export async function withoutUrl(fields = '') {
  const {url} = await scriptedServer(async connection => {
    const {head} = await connection.request();
    const [, type = ''] = /content-type: image\/(\w+)/.exec(head.join(' ')) ?? [];
    const own = type === 'png' ? fields : `,"type":"IMAGE","fileUrl":"https://c/${type}"`;
    connection.answer(200, `{"id":"m_${type}"${own}}`);
  });
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
  for (const name of names) await copyFile(fixture(name), join(box.directory, name));
  return box;
}
