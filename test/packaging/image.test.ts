import {copyFile, mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {DockerfileParser} from 'dockerfile-ast';
import {validate} from 'dockerfile-utils';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {needPrograms, notRun} from '../support/installed.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {packedPackage} from '../support/packed.ts';
import {slowTest} from '../support/patience.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = await readFile(join(root, 'Dockerfile'), 'utf8');
const release = packedPackage();

/** The instructions of the last stage, which is the image. */
const stages = DockerfileParser.parse(text).getInstructions();
const image = stages.slice(stages.map(one => one.getKeyword()).lastIndexOf('FROM'));

function argumentsOf(keyword: string): string {
  return image.find(one => one.getKeyword() === keyword)?.getArgumentsContent() ?? '';
}

function listOf(keyword: string): string[] {
  return JSON.parse(argumentsOf(keyword).replace(/^.*?CMD\s+|^[^[]*/, '')) as string[];
}

const variables = Object.fromEntries(
  argumentsOf('ENV')
    .split(/\s+/)
    .map(pair => pair.split('=', 2)),
) as Record<string, string>;

describe('the Dockerfile', () => {
  it('a validator of Dockerfiles finds nothing, and would', () => {
    expect(validate(text)).toEqual([]);
    expect(validate(text.replace('HEALTHCHECK', 'HEALTHCHEK')).length).toBeGreaterThan(0);
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
touch /written /opt/written /usr/written 2> /dev/null || echo read-only
{ kill $!; wait $!; } 2> /dev/null || echo ended
`;

it(
  'the files of the image, in a namespace of their own with a root that cannot be written: healthy, and takes an upload',
  slowTest,
  async context => {
    needPrograms(context, ['unshare', 'mount']);
    if (process.getuid?.() !== 0) notRun(context, 'another user is for root alone to become');
    if (!process.execPath.startsWith('/usr/'))
      notRun(context, 'Node is not below /usr, which stands for the base image');
    const directory = await temporaryDirectory();
    const [tree, data, temporary] = ['tree', 'data', 'tmp'].map(name => join(directory, name)) as [
      string,
      string,
      string,
    ];
    for (const name of ['opt', 'usr', 'etc', 'dev', 'proc', 'data', 'tmp'])
      await mkdir(join(tree, name), {recursive: true});
    for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(tree, name));
    for (const path of [data, temporary]) await mkdir(path, {mode: 0o777});
    await copyFile(fixture('photo.png'), join(temporary, 'photo.png'));
    const install = ['install', '--global', '--prefix', join(tree, 'opt/media'), '--no-audit', '--no-fund'];
    await execa('npm', [...install, '--offline', await release.tarball()], {cwd: directory});
    await writeFile(join(directory, 'visit.sh'), visit);
    await copyFile(join(directory, 'visit.sh'), join(temporary, 'visit.sh'));
    const enter = `
    set -e
    mount --bind "$1" "$1"
    for name in usr etc dev; do mount --rbind "/$name" "$1/$name"; done
    mount --bind "$2" "$1/data"; mount --bind "$3" "$1/tmp"; chown 1000:1000 "$1/data" "$1/tmp"
    mount -t proc proc "$1/proc"
    mount -o remount,bind,ro "$1/usr"; mount -o remount,bind,ro "$1"
    tree="$1"; shift 3
    exec chroot --userspec=1000:1000 "$tree" sh /tmp/visit.sh "$@"`;
    const [node = '', , health = ''] = listOf('HEALTHCHECK');
    expect(node).toBe('node');
    const [entrypoint = ''] = listOf('ENTRYPOINT');
    const {stdout, stderr, exitCode} = await execa(
      'unshare',
      [
        ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', tree, data, temporary],
        ...[entrypoint, health, ...listOf('CMD')],
      ],
      {
        env: {
          ...variables,
          PATH: (variables['PATH'] ?? '').replace('$PATH', '/usr/local/bin:/usr/bin:/bin:/usr/sbin'),
          MEDIA_SERVE_PORT: '0',
          MEDIA_SERVE_KEY: 'a-key-of-the-owner-1234',
        },
        extendEnv: false,
        reject: false,
        ...slowTest,
      },
    );
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: expect.stringMatching(/^user 1000\nhealthy\nm_\w+\nread-only\nended$/),
      stderr: '',
      exitCode: 0,
    });
  },
);
