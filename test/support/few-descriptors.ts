import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {mediaCommand, sandbox} from './media.ts';

/** A `media serve` that may open so many files, its data in `kept`; it ends with the test. */
export async function serveWith(descriptors: number) {
  const {directory, env} = await sandbox();
  const command = `ulimit -n ${descriptors}; exec "$0" "$@"`;
  const child = execa('sh', ['-c', command, ...mediaCommand, 'serve', '--port', '0', '--data-dir', 'kept'], {
    cwd: directory,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    buffer: false,
  });
  afterTest(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  child.stdout.on('data', chunk => {
    stdout += chunk;
  });
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const [, url = '', key = ''] = await eventually(
    () => /=(http.*)\nMEDIA_API_KEY=(.*)\n/.exec(stdout) ?? undefined,
  );
  const link = () => /http:\S+\?token=\S+/.exec(stderr)?.[0];
  return {service: {url}, key, link, records: () => readdir(join(directory, 'kept/records'))};
}
