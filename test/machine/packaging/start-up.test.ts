import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';

import {fixture, sandbox} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';

/** What nothing on the way of a small upload over plain http has a use for; each takes 7 to 24 ms to load. */
const unused = [
  'tls',
  'child_process',
  'crypto',
  'http2',
  'internal/fs/promises',
  'internal/readline/interface',
];

test('a small upload loads none of the modules of Node that it does not use', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_start'});
  const [preload, list] = [join(box.directory, 'list.cjs'), join(box.directory, 'modules')];
  await writeFile(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n')));`,
  );
  const {exitCode, stderr} = await box.run(['upload', fixture('photo.png'), '--json'], {
    env: {...box.env, NODE_OPTIONS: `--require=${preload}`},
  });
  expect(exitCode, stderr).toBe(0);
  const loaded = (await readFile(list, 'utf8')).split('\n');
  expect(loaded).toContain('NativeModule net');
  expect(unused.filter(name => loaded.includes(`NativeModule ${name}`))).toEqual([]);
});
