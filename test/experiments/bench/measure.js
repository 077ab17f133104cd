import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** A sink of its own process; resolves to its address and the function that ends it. */
export function startSink(...parameters) {
  return startSinkAt([], 'localhost', ...parameters);
}

/** The same, started by another command, and to be reached by another name. */
export async function startSinkAt(place, host, ...parameters) {
  const [command, ...rest] = [...place, process.execPath, fileURLToPath(new URL('sink.js', import.meta.url))];
  const child = spawn(command, [...rest, ...parameters], {stdio: ['ignore', 'pipe', 'inherit']});
  const port = await new Promise((resolve, reject) => {
    child.stdout.once('data', text => resolve(Number(text)));
    child.once('exit', code => reject(new Error(`The sink ended with status ${code}.`)));
  });
  const scheme = parameters.includes('--tls') ? 'https' : 'http';
  return {url: `${scheme}://${host}:${port}`, stop: () => child.kill()};
}

/** Runs a command to its end: wall and CPU time in milliseconds, and its peak of memory in MiB. */
export function timed(command, {env = {}, stdin = 'ignore', cwd} = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'media-bench-time-'));
  const report = join(directory, 'time');
  const start = process.hrtime.bigint();
  const {status, stderr} = spawnSync('/usr/bin/time', ['-o', report, '-f', '%U %S %M', ...command], {
    cwd,
    env: {...process.env, ...env},
    stdio: [stdin, 'ignore', 'pipe'],
    maxBuffer: 1e9,
  });
  const wall = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0) throw new Error(`${command.join(' ')} ended with status ${status}: ${stderr}`);
  const [user, system, kibibytes] = readFileSync(report, 'utf8').trim().split(' ').map(Number);
  rmSync(directory, {recursive: true});
  return {wall, user: user * 1000, system: system * 1000, peak: kibibytes / 1024};
}

const hyperfine = spawnSync('hyperfine', ['--version']).status === 0;

/** Wall times of short commands in milliseconds, one run of each, in this order. */
export function timedOnce(commands, {env = {}} = {}) {
  if (!hyperfine) return commands.map(command => timed(command, {env}).wall);
  const directory = mkdtempSync(join(tmpdir(), 'media-bench-hyperfine-'));
  const report = join(directory, 'results.json');
  const {status, stderr} = spawnSync(
    'hyperfine',
    ['--shell=none', '--runs=1', '--style=none', `--export-json=${report}`, ...commands.map(quoted)],
    {env: {...process.env, ...env}, encoding: 'utf8'},
  );
  if (status !== 0 || !existsSync(report)) throw new Error(stderr);
  const {results} = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(directory, {recursive: true});
  return results.map(({median}) => median * 1000);
}

function quoted(command) {
  return command.map(word => `'${word}'`).join(' ');
}

/** Calls `round` so many times, once more beforehand to warm up, and collects what it returns by its names. */
export async function inRounds(count, round) {
  const collected = {};
  for (let turn = -1; turn < count; turn += 1) {
    const values = await round();
    if (turn < 0) continue;
    for (const [name, value] of Object.entries(values)) {
      collected[name] ??= [];
      collected[name].push(value);
    }
  }
  return collected;
}

/** The middle of some numbers. */
export function median(numbers) {
  return quantile(numbers, 0.5);
}

/** The value that the given part of the numbers does not exceed. */
export function quantile(numbers, part) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * part)];
}
