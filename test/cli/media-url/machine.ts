import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture, mediaUrl, type Sandbox} from '../../support/media.ts';

/** Names that shells, URLs and editors trip over, each a file of its own. */
export const names = [
  'with space.png',
  `quotes "and" 'more'.jpg`,
  '写真.gif',
  '$HOME `id`.webp',
  '100%25.avif',
  '[a]*?.bmp',
];

/** A machine with these files, each of other content, and the URL that each has got once all are uploaded. */
export async function machine() {
  const connected = await connectedSandbox();
  const {sandbox, service} = connected;
  for (const name of names)
    await copyFile(fixture(`photo.${name.split('.').pop()}`), join(sandbox.directory, name));
  await copyFile(fixture('page-named.png'), join(sandbox.directory, 'page.png'));
  const urls = async () => {
    const records = await service.records();
    return (name: string) => {
      const type = `image/${name.split('.').pop()?.replace('jpg', 'jpeg')}`;
      return records.find(({contentType}) => contentType === type)?.record.fileUrl as string;
    };
  };
  return {...connected, urls};
}

export function run(
  {directory, env}: Pick<Sandbox, 'directory' | 'env'>,
  parameters: readonly string[],
  program = mediaUrl,
) {
  return execa(program, parameters, {cwd: directory, env, extendEnv: false, reject: false});
}

export const quoted = (word: string) => `"${word.replace(/["$`\\]/g, '\\$&')}"`;

/** Expects that `media-url` with these files prints nothing, and says on standard error why. */
export async function expectRefusal(files: readonly string[], status: number, reason: RegExp): Promise<void> {
  const {sandbox} = await machine();
  const {stdout, stderr, exitCode} = await run(sandbox, ['--no-progress', ...files]);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: status});
  expect(stderr).toMatch(reason);
  expect(stderr).not.toMatch(/internal|uploaded,/i);
}
