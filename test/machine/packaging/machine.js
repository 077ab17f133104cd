import {copyFile, mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/**
 * Calls `action` with a machine of its own for the program that is installed under `prefix` and the Node at `node`:
 * nothing is inherited, and everything goes away afterwards.
 */
export async function withMachine({node, prefix, version}, action) {
  const directory = await mkdtemp(join(tmpdir(), 'media-smoke-'));
  const bin = join(prefix, 'bin');
  const sealed = {
    PATH: [bin, dirname(node), process.env.PATH].join(delimiter),
    HOME: directory,
    TMPDIR: directory,
    MEDIA_CONFIG_DIR: join(directory, 'config'),
    XDG_DATA_HOME: join(directory, 'data'),
  };
  const children = [];
  const start = (file, parameters, {env, ...options} = {}) => {
    const child = execa(file, parameters, {
      cwd: directory,
      env: {...sealed, ...env},
      extendEnv: false,
      reject: false,
      timeout: 200_000,
      ...(options.input === undefined && {stdin: 'ignore'}),
      ...options,
    });
    children.push(child);
    const ended = child.then(({stdout, stderr, exitCode, signal}) => ({stdout, stderr, exitCode, signal}));
    return Object.assign(ended, {kill: signal => child.kill(signal), stdout: child.stdout});
  };
  const program = join(bin, 'media');
  try {
    await mkdir(directory, {recursive: true});
    for (const file of ['photo.png', 'clip.mp4']) await copyFile(join(fixtures, file), join(directory, file));
    await action({
      directory,
      version,
      entry: join(prefix, 'lib/node_modules/media-cli/dist/index.js'),
      media: (parameters, options) => start(program, parameters, options),
      shell: command => start('sh', ['-c', command]),
      run: parameters => start(node, parameters),
      async serve() {
        const child = start(program, ['serve', '--port', '0', '--ephemeral', '--quiet']);
        const values = {};
        for await (const line of createInterface({input: child.stdout})) {
          const [name, value] = line.split(/=(.*)/s);
          values[name] = value;
          if (name === 'MEDIA_API_KEY') break;
        }
        const end = signal => {
          child.kill(signal);
          return child;
        };
        return {url: values.MEDIA_BASE_URL, key: values.MEDIA_API_KEY, end};
      },
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children);
    await rm(directory, {recursive: true, force: true});
  }
}
