import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {cp, mkdir, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {afterTest} from '../../../support/after-test.ts';
import {missingPeer, startPeer} from '../../../support/experiment/peers.ts';
import {whatIsMissing} from '../../../support/installed.ts';
import {temporaryDirectory} from '../../../support/media.ts';

/** A server that others made, which answers each upload with one status before it has read the body. */
export interface EarlyServer {
  name: string;
  /** Why it cannot be tried here, or undefined. */
  missing: string | undefined;
  /** Starts it for the current test; returns its URL. */
  start: (status: number) => Promise<string>;
}

/** Where Debian's packages put the sources of Rust's libraries. */
const crates = '/usr/share/cargo/registry';
const hyper = `${crates}/hyper-0.14.19`;

export const earlyServers: EarlyServer[] = [
  {
    name: 'haproxy',
    missing: missingPeer('haproxy that refuses'),
    start: async status =>
      `${(await startPeer('haproxy that refuses', 'http://127.0.0.1:1')).plainUrl}/${status}`,
  },
  {
    name: "Python's http.server",
    missing: existsSync('/usr/bin/python3') ? undefined : 'not installed: /usr/bin/python3',
    start: status => started('/usr/bin/python3', [own('early.py'), String(status)]),
  },
  {
    name: "Java's HttpServer",
    missing: whatIsMissing(['groovy']),
    start: status => started('groovy', [own('early.groovy'), String(status)]),
  },
  {
    name: "Go's net/http",
    missing: whatIsMissing(['go']),
    start: startGo,
  },
  {
    name: "Rust's hyper",
    missing:
      whatIsMissing(['cargo']) ??
      (existsSync(hyper)
        ? undefined
        : 'not installed: hyper (Debian: apt-get install librust-hyper-dev librust-tokio-dev)'),
    start: startHyper,
  },
];

function own(name: string): string {
  return fileURLToPath(new URL(`../../../support/experiment/peers/${name}`, import.meta.url));
}

/** Starts a server in Go; with 200 it reads each body, and closes what has been idle for a second. */
export async function startGo(status: number): Promise<string> {
  const program = join(await temporaryDirectory(), 'early');
  const env = {GOCACHE: join(tmpdir(), 'media-go-cache'), GO111MODULE: 'off'};
  await execa('go', ['build', '-o', program, own('early.go')], {env});
  return started(program, [String(status)]);
}

async function startHyper(status: number): Promise<string> {
  const directory = join(await temporaryDirectory(), 'hyper');
  await cp(own('early-hyper'), directory, {recursive: true});
  await mkdir(join(directory, '.cargo'));
  await writeFile(
    join(directory, '.cargo/config.toml'),
    `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${crates}"\n`,
  );
  const target = join(tmpdir(), 'media-cargo-target');
  await execa('cargo', ['build', '--offline', '--target-dir', target], {cwd: directory});
  return started(join(target, 'debug/early-hyper'), [String(status)]);
}

/** Starts a server that prints its port; returns its URL. */
async function started(program: string, parameters: string[]): Promise<string> {
  const server = spawn(program, parameters, {stdio: ['ignore', 'pipe', 'ignore']});
  afterTest(() => {
    server.kill();
  });
  for await (const line of createInterface(server.stdout)) return `http://127.0.0.1:${Number(line)}`;
  throw new Error(`${program} did not start`);
}
