import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {validate} from 'dockerfile-utils';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {dockerfile, imageOf, imageTree, needTrees, writeAttempts} from '../../support/image.ts';
import {notRun} from '../../support/installed.ts';
import {fixture} from '../../support/media.ts';
import {packedPackage} from '../../support/packed.ts';
import {slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const release = packedPackage();
const {argumentsOf, listOf, variables} = imageOf();

describe('the Dockerfile', () => {
  it('a validator of Dockerfiles finds nothing, and would', () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace('HEALTHCHECK', 'HEALTHCHEK')).length).toBeGreaterThan(0);
  });

  it('is not run by root, serves where it says, and keeps its state in a volume', () => {
    expect(argumentsOf('USER')).toBe('node');
    expect(variables).toMatchObject({MEDIA_SERVE_HOST: '0.0.0.0', MEDIA_SERVE_PORT: argumentsOf('EXPOSE')});
    expect(variables['MEDIA_SERVE_DATA_DIR']).toBe(argumentsOf('VOLUME'));
    expect([...listOf('ENTRYPOINT'), ...listOf('CMD')]).toEqual(['media', 'serve', '--ndjson']);
  });

  it('the build gets every file that the package is made of', async () => {
    const ignored = (await readFile(join(root, '.dockerignore'), 'utf8')).trimEnd().split('\n');
    const taken = ignored.filter(line => line.startsWith('!')).map(line => line.slice(1));
    const {files} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {files: string[]};
    const needed = files.filter(file => !/dist/.test(file));
    expect(ignored[0]).toBe('*');
    expect(taken).toEqual(
      expect.arrayContaining([...needed, 'src', '.ci', 'package.json', 'package-lock.json']),
    );
  });
});

/** Starts the service as the image does, asks for its health as the image does, uploads, and tries to write elsewhere. */
const visit = `
entrypoint="$1"; health="$2"; shift 2
: > /tmp/service
"$entrypoint" "$@" > /tmp/service 2> /tmp/log &
until grep -q MEDIA_BASE_URL /tmp/service; do kill -0 $! || { cat /tmp/log; exit 1; }; sleep 0.1; done
url=$(sed -n 's/^MEDIA_BASE_URL=//p' /tmp/service)
echo "user $(id -u)"
MEDIA_SERVE_PORT="\${url##*:}" node -e "$health" && echo healthy
MEDIA_BASE_URL="$url" MEDIA_API_KEY="$MEDIA_SERVE_KEY" media upload /tmp/photo.png --template '{id}\\n'
${writeAttempts(['/', '/opt', '/usr'])}
{ kill $!; wait $!; } 2> /dev/null || echo ended
`;

it(
  'the files of the image, in a namespace of their own with a root that cannot be written: healthy, and takes an upload',
  slowTest,
  async context => {
    needTrees(context);
    if (!process.execPath.startsWith('/usr/'))
      notRun(context, 'Node is not below /usr, which stands for the base image');
    const image = await imageTree(['data', 'tmp']);
    await copyFile(fixture('photo.png'), image.at('tmp/photo.png'));
    const install = [
      'install',
      '--global',
      '--prefix',
      join(image.tree, 'opt/media'),
      '--no-audit',
      '--no-fund',
    ];
    await execa('npm', [...install, '--offline', await release.tarball()], {cwd: image.at('')});
    const [node = '', , health = ''] = listOf('HEALTHCHECK');
    expect(node).toBe('node');
    const [entrypoint = ''] = listOf('ENTRYPOINT');
    const visited = await image.run(visit, {
      user: '1000:1000',
      parameters: [entrypoint, health, ...listOf('CMD')],
      env: {
        ...variables,
        PATH: (variables['PATH'] ?? '').replace('$PATH', '/usr/local/bin:/usr/bin:/bin:/usr/sbin'),
        MEDIA_SERVE_PORT: '0',
        MEDIA_SERVE_KEY: 'a-key-of-the-owner-1234',
      },
    });
    expect(visited).toEqual({
      stdout: expect.stringMatching(/^user 1000\nhealthy\nm_\w+\nread-only\nended$/),
      stderr: '',
      exitCode: 0,
    });
  },
);
