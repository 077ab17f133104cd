import {onTestFinished} from 'vitest';
import {eventually} from '../embedded/support.ts';
import type {Sandbox} from './media.ts';

/** A `media serve` that runs until the test ends it, or until the test ends. */
export async function serve(box: Sandbox, ...parameters: string[]) {
  const child = box.start(['serve', '--port', '0', ...parameters], {buffer: true});
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  await eventually(() => stdout.split('\n').length > 2);
  const [, url = '', key = ''] =
    /^MEDIA_BASE_URL=(http:\/\/127\.0\.0\.1:\d+)\nMEDIA_API_KEY=(mk_\S+)\n$/.exec(stdout) ?? [];
  return {
    child,
    url,
    key,
    env: {...box.env, MEDIA_BASE_URL: url, MEDIA_API_KEY: key},
    stderr: () => stderr,
    stdout: () => stdout,
  };
}
