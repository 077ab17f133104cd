import {existsSync} from 'node:fs';
import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {bareDebian, whyNoBareDebian} from '../../support/bare-debian.js';
import {imageOf, imageTree, writeAttempts} from '../../support/image.ts';
import {needPrograms, notRun} from '../../support/installed.ts';
import {fixture, temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const {argumentsOf, listOf, variables} = imageOf('executable');
const [variable = '', file = ''] = argumentsOf('ARG').split('=');
const [source = '', target = ''] = argumentsOf('COPY').replace(`\${${variable}}`, file).split(' ');

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
  expect(source).toBe('dist-executables/media-linux-x64');
  const taken = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  expect(taken).toEqual(expect.arrayContaining([`!${source}`, `!${source.replace('x64', 'arm64')}`]));
  expect(listOf('ENTRYPOINT')).toEqual(['media']);
});

it(
  'made by the lines of the Dockerfile on a bare Debian, with a root that cannot be written: uploads a photo',
  slowTest,
  async context => {
    const executable = join(root, source);
    if (!existsSync(executable)) notRun(context, 'npm run executables has not built an executable');
    needPrograms(context, ['debootstrap', 'mount', 'unshare']);
    const reason = whyNoBareDebian();
    if (reason !== undefined) notRun(context, reason);
    const image = await imageTree(['tmp'], bareDebian(await temporaryDirectory()));
    await copyFile(fixture('photo.png'), image.at('tmp/photo.png'));
    await writeFile(image.at('install.sh'), argumentsOf('RUN'));
    const {stdout, stderr, exitCode} = await image.run(visit, {
      user: argumentsOf('USER'),
      lay: `cp /etc/resolv.conf /etc/hosts "$tree/etc/"
      chroot "$tree" sh -ec "$(cat "$1/install.sh")" > "$1/log" 2>&1 || { cat "$1/log"; exit 1; }
      cp '${executable}' "$tree${target}"; chmod 755 "$tree${target}"; mkdir -p "$tree${argumentsOf('WORKDIR')}"`,
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
