import {existsSync} from 'node:fs';
import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {imageOf, imageTree, needTrees, writeAttempts} from '../support/image.ts';
import {notRun} from '../support/installed.ts';
import {fixture} from '../support/media.ts';
import {slowTest} from '../support/patience.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const {argumentsOf, listOf, variables} = imageOf('executable');

/** Uploads to a service of its own and, without a place to write to, to one that runs; tries to write; looks for Node.js. */
const visit = `
entrypoint="$1"
echo "user $(id -u)"
"$entrypoint" --version
"$entrypoint" upload /tmp/photo.png --base-url embedded --quiet --template '{id}\\n'
: > /tmp/service
"$entrypoint" serve --port 0 --ephemeral --quiet > /tmp/service &
until grep -q MEDIA_API_KEY /tmp/service; do kill -0 $! || exit 1; sleep 0.1; done
export $(cat /tmp/service)
HOME=/none TMPDIR=/none "$entrypoint" upload /tmp/photo.png --template '{id}\\n'
${writeAttempts(['/', argumentsOf('WORKDIR'), '/usr'])}
{ kill $!; wait $!; } 2> /dev/null || echo ended
`;

it('the image of the executable is not run by root, and is built from what the build makes', async () => {
  expect(Number(argumentsOf('USER').split(':')[0])).toBeGreaterThan(0);
  const [source = ''] = argumentsOf('COPY').split(' ');
  expect(source).toBe('dist-executables/media-linux-x64');
  expect((await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')).toContain(`!${source}`);
  expect(listOf('ENTRYPOINT')).toEqual(['media']);
});

it(
  'its files, in a namespace with a root that cannot be written, upload a photo',
  slowTest,
  async context => {
    const [source = '', target = ''] = argumentsOf('COPY').split(' ');
    const executable = join(root, source);
    if (!existsSync(executable)) notRun(context, 'npm run executables has not built an executable');
    needTrees(context);
    const image = await imageTree(['tmp']);
    await copyFile(fixture('photo.png'), image.at('tmp/photo.png'));
    const {stdout, stderr, exitCode} = await image.run(visit, {
      user: argumentsOf('USER'),
      // Nothing of this machine's programs but those of its system.
      lay: `mount -t tmpfs tmpfs "$tree/usr/local"; mkdir -p "$tree${target}"; rmdir "$tree${target}"
      cp '${executable}' "$tree${target}"; chmod 755 "$tree${target}"; mount -o remount,ro "$tree/usr/local"
      if [ -e "$tree/usr/bin/node" ]; then mount --bind /dev/null "$tree/usr/bin/node"; fi`,
      parameters: listOf('ENTRYPOINT'),
      env: {PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...variables},
    });
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: expect.stringMatching(/^user 65532\n\d+\.\d+\.\d+\nm_\w+\nm_\w+\nread-only\nended$/),
      stderr: '',
      exitCode: 0,
    });
  },
);
