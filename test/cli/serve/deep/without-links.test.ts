import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, needNode, type Sandbox, sandbox} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';
import {running} from '../../../support/running.ts';

/** What FAT and some network shares refuse: hard links, and the sync of a directory (or even to open one). */
const withoutLinks = (call: 'open' | 'sync', code: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  const refuse = code => Promise.reject(Object.assign(new Error(code), {code}));
  const {open} = fs.promises;
  fs.link = (_from, _to, done) => void refuse('EPERM').catch(done);
  fs.promises.open = async (path, flags, mode) => {
    const isDirectory = fs.statSync(path, {throwIfNoEntry: false})?.isDirectory();
    if (isDirectory && '${call}' === 'open') return refuse('${code}');
    const handle = await open(path, flags, mode);
    if (isDirectory) handle.sync = () => refuse('${code}');
    return handle;
  };`)}`;

async function serve(box: Sandbox, NODE_OPTIONS: string) {
  const {child, stdout, stderr} = running(box, ['serve', '--port', '0'], {
    env: {...box.env, NODE_OPTIONS},
    ...slowTest,
  });
  const [, url = '', key = ''] = await eventually(
    () => /MEDIA_BASE_URL=(\S+)\n.*MEDIA_API_KEY=(\S+)\n/s.exec(stdout()) ?? undefined,
  );
  return {child, stderr, env: {...box.env, MEDIA_BASE_URL: url, MEDIA_API_KEY: key}};
}

test.for([
  ['sync', 'EINVAL'],
  ['sync', 'EPERM'],
  ['open', 'EISDIR'],
  ['open', 'EACCES'],
] as const)(
  'media serve where hard links are refused, and for directories %s with %s: stores, and has it after a restart',
  slowTest,
  async ([call, code], context) => {
    needNode(context);
    const box = await sandbox();
    await copyFile(fixture('photo.png'), join(box.directory, 'a.png'));
    const first = await serve(box, withoutLinks(call, code));
    const uploaded = await box.run(['upload', 'a.png', '--template', '{id}\\n'], {env: first.env});
    expect(uploaded).toMatchObject({exitCode: 0, stderr: ''});
    first.child.kill('SIGINT');
    expect((await first.child).signal).toBe('SIGINT');
    const second = await serve(box, withoutLinks(call, code));
    const {stdout} = await box.run(['graphql', '{mediaList{nodes{id size}}}'], {env: second.env});
    expect(JSON.parse(stdout).data.mediaList.nodes).toEqual([{id: uploaded.stdout.trim(), size: 13_582}]);
  },
);
