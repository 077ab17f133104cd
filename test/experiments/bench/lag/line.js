import {spawn, spawnSync} from 'node:child_process';
import {existsSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const source = fileURLToPath(new URL('line.c', import.meta.url));

/** What this machine lacks to make lines, as a sentence; undefined if nothing. */
export function whyNoLines() {
  if (process.getuid?.() !== 0) return 'lines need root';
  if (!existsSync('/dev/net/tun')) return 'lines need /dev/net/tun';
  const missing = ['cc', 'nsenter', 'curl'].find(name => spawnSync(name, ['--version']).error !== undefined);
  return missing === undefined ? undefined : `lines need ${missing}`;
}

/**
 * A line with a round trip of `rtt` ms, a rate in Mbit/s (0: any) and a share of lost packets. `near` and `far` go before a
 * command to run it at that end; the far end is 10.99.0.2. Nothing of it outlives this process.
 */
export async function openLine(directory, {rtt, rate = 0, loss = 0}) {
  const child = spawn(compiled(directory), [rtt, rate, loss].map(String), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise(resolve => child.once('close', resolve));
  const spaces = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', status => reject(new Error(`The line ended with status ${status}.`)));
    createInterface({input: child.stdout}).once('line', text => resolve(text.split(' ')));
  });
  const [near, far] = spaces.map(space => ['nsenter', `--net=${space}`]);
  const close = () => {
    child.stdin.end();
    return ended;
  };
  return {near, far, close};
}

function compiled(directory) {
  const program = join(directory, 'line');
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return program;
  const {status, stderr} = spawnSync('cc', ['-O2', '-o', program, source], {encoding: 'utf8'});
  if (status !== 0) throw new Error(stderr);
  return program;
}
