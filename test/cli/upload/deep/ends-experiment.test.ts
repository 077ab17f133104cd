import {once} from 'node:events';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {inject, onTestFinished} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {sinkServer, unbufferable, writeSparsePng} from '../../../engine/service/support.ts';
import {ended} from '../../../support/ended.ts';
import {endlessMov, isAboutToBeRead} from '../../../support/endless-mov.ts';
import {eventually} from '../../../support/eventually.ts';
import {experiment} from '../../../support/experiment/experiment.ts';
import {mountHanging, whatFuseMisses} from '../../../support/hanging-disk.ts';
import {fixture, Sandbox, sandbox, temporaryDirectory} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';
import {fullListener, type SilentPeer, silentServer, silentTunnel} from '../../../support/silent-peers.ts';

const photo = fixture('photo.png');
const signals = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;
/** Of the deadlines, in milliseconds: later than an idle machine comes to any of the phases. */
const shortestDeadlineMs = 900;

/** A run that comes to wait for something. */
interface Waiting {
  box: Sandbox;
  parameters: readonly string[];
  /** Resolves once the run waits for it. */
  reached(): Promise<unknown>;
  /** Lets go what keeps a process that has ended. */
  release?(): void;
}

const noFuse = whatFuseMisses();

/** What a run may wait for, and for how long it then waits on in any case, in milliseconds. */
const phases: Record<
  string,
  {start: () => Promise<Waiting>; graceMs?: number; missing?: string | undefined}
> = {
  'a service that is silent in TLS': {
    start: async () => reaching(await silentServer(), ({port}) => [`https://127.0.0.1:${port}`]),
  },
  'a service that is silent in TCP': {
    start: async () => reaching(await fullListener(), ({port}) => [`http://127.0.0.1:${port}`]),
  },
  'a proxy that is silent in CONNECT': {start: async () => reaching(await silentServer(), throughProxy)},
  'a proxy behind which nobody answers in TLS': {
    start: async () => reaching(await silentTunnel(), throughProxy),
  },
  'a service that reads no further': {
    start: async () => {
      const path = await writeSparsePng(await temporaryDirectory(), 'big.png', unbufferable);
      const sink = await sinkServer({pauseAfter: 1});
      return {box: await sandboxFor(sink.url), parameters: [path], reached: () => sink.paused};
    },
  },
  'a response to a finished upload': {
    graceMs: 5_000,
    missing: inject('scale') === 'long' ? undefined : 'only in the long form',
    start: async () => {
      let isWhole = false;
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        isWhole = true;
      });
      return {box: await sandboxFor(url), parameters: [photo], reached: () => eventually(() => isWhole)};
    },
  },
  'the next try': {
    start: async () => {
      let isAnswered = false;
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(429, '', {'retry-after': '200'});
        isAnswered = true;
      });
      return {box: await sandboxFor(url), parameters: [photo], reached: () => eventually(() => isAnswered)};
    },
  },
  'a reader of its output': {
    start: async () => {
      const record = `{"id":"m_1","type":"IMAGE","padding":"${'x'.repeat(200_000)}"}`;
      let count = 0;
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        count += 1;
        connection.answer(200, record);
      });
      const names = ['photo.png', 'photo.jpg', 'photo.gif', 'photo.webp', 'photo.bmp', 'photo.heic'];
      const parameters = [...names.map(fixture), '-c', '1', '--json'];
      // The first record has filled the pipe by the time that the second file has come.
      return {box: await sandboxFor(url), parameters, reached: () => eventually(() => count > 1)};
    },
  },
  'standard input': {
    start: async () => ({
      box: await sandboxFor('http://127.0.0.1:9'),
      parameters: ['-', '--name', 'a.png'],
      reached: async () => {},
    }),
  },
  'a key-command': {
    start: async () => {
      const box = await sandbox();
      const command = 'touch started; exec sleep 30';
      await writeSettings(join(box.directory, 'config'), {'key-command': command});
      const started = join(box.directory, 'config/started');
      return {
        box,
        parameters: [photo],
        reached: () => eventually(() => readFile(started).catch(() => undefined)),
      };
    },
  },
  'a keychain': {
    start: async () => {
      // Without a settings directory of its own, as on somebody's machine.
      const box = new Sandbox(await temporaryDirectory());
      delete box.env['MEDIA_CONFIG_DIR'];
      const path = join(box.directory, 'bus');
      const reached = await silentSocket(path);
      box.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path}`;
      // With a screen, somebody may have to unlock it: it is waited for longer than a busy machine takes to ask it.
      box.env['DISPLAY'] = ':9';
      await mkdir(join(box.directory, '.config'));
      await writeSettings(join(box.directory, '.config/media'), {
        'key-store': 'keychain',
        'key-origin': 'http://127.0.0.1:9',
      });
      return {box, parameters: [photo], reached};
    },
    missing: process.platform === 'linux' ? undefined : 'only Linux reaches its keychain over a socket',
  },
  'a video that keeps its reader busy': {
    start: async () => {
      const box = await sandbox({MEDIA_BASE_URL: 'embedded'});
      const parameters = [await endlessMov(box.directory)];
      return {box, parameters, reached: () => eventually(() => isAboutToBeRead(box))};
    },
    graceMs: 2_000,
  },
  'a disk that hangs as it is read': {start: () => onHangingDisk('read'), missing: noFuse},
  'a disk that hangs as a directory is read': {
    graceMs: 5_000,
    start: () => onHangingDisk('readdir', '-r', '.'),
    missing: inject('scale') === 'long' ? noFuse : 'only in the long form',
  },
  'a disk that hangs as a file is opened': {start: () => onHangingDisk('open'), missing: noFuse},
};

async function reaching(
  peer: SilentPeer,
  settings: (peer: SilentPeer) => [string, Record<string, string>?],
): Promise<Waiting> {
  return {box: await sandboxFor(...settings(peer)), parameters: [photo], reached: peer.reached};
}

function throughProxy({port}: SilentPeer): [string, Record<string, string>] {
  return ['https://api.example.com', {HTTPS_PROXY: `http://127.0.0.1:${port}`}];
}

async function writeSettings(directory: string, settings: Record<string, string>): Promise<void> {
  await mkdir(directory, {mode: 0o700});
  const text = JSON.stringify({profiles: {default: {'base-url': 'http://127.0.0.1:9', ...settings}}});
  await writeFile(join(directory, 'config.json'), text, {mode: 0o600});
}

/** Takes connections at a path and says nothing; the function returned resolves once there is one. */
async function silentSocket(path: string): Promise<() => Promise<unknown>> {
  let isTaken = false;
  const server = createServer(socket => {
    isTaken = true;
    onTestFinished(() => {
      socket.destroy();
    });
  });
  await new Promise<void>(resolve => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
  });
  return () => eventually(() => isTaken);
}

/** `names`: what is uploaded of it, instead of its file. */
async function onHangingDisk(call: string, ...names: string[]): Promise<Waiting> {
  const directory = await temporaryDirectory();
  const disk = await mountHanging(directory, photo, call, 1);
  return {
    box: await sandboxFor('http://127.0.0.1:9'),
    parameters:
      names.length === 0
        ? [join(directory, disk.name)]
        : names.map(name => (name === '.' ? directory : name)),
    reached: () => eventually(() => disk.hangs()),
    release: disk.end,
  };
}

/**
 * Ends one run that waits; how long that took, in milliseconds, or what went wrong. A run that meets its deadline before it waits,
 * as on a busy machine, makes way for one with twice the time.
 */
async function endOne(
  start: () => Promise<Waiting>,
  how: (typeof signals)[number] | 'deadline',
  deadlineMs = shortestDeadlineMs,
): Promise<number | string> {
  const {box, parameters, reached, release} = await start();
  const options = how === 'deadline' ? ['--deadline', `${deadlineMs}ms`] : [];
  const began = performance.now();
  const upload = box.start(['upload', ...parameters, ...options], {
    stdin: 'pipe',
    buffer: false,
    killSignal: 'SIGKILL',
  });
  upload.stdout?.pause();
  const exit = once(upload, 'exit');
  let stderr = '';
  upload.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  const isReached = reached().then(() => true);
  if (how === 'deadline' && !(await Promise.race([isReached, exit.then(() => false)]))) {
    isReached.catch(() => {});
    release?.();
    return endOne(start, how, 2 * deadlineMs);
  }
  await isReached;
  if (how === 'deadline') {
    await ended(upload.pid ?? 0);
    const elapsed = performance.now() - began - deadlineMs;
    release?.();
    const [exitCode, signal] = await exit;
    // What was whole before the deadline may be stored yet, as long as responses are waited for.
    return [0, 1, 3, 5].includes(exitCode) ? elapsed : `${signal ?? exitCode}: ${stderr.slice(-200)}`;
  }
  // What reads standard input and what waits for it cannot be told apart from outside.
  await eventually(() => isAsleep(upload.pid ?? 0));
  const told = performance.now();
  upload.kill(how);
  await ended(upload.pid ?? 0);
  const elapsed = performance.now() - told;
  release?.();
  const [exitCode, signal] = await exit;
  return signal === how ? elapsed : `${signal ?? exitCode} after ${how}: ${stderr.slice(-200)}`;
}

/** Whether a process catches signals already, and waits. */
async function isAsleep(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const caught = Number.parseInt(/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1]?.slice(-8) ?? '0', 16);
  return /^State:\s*S/m.test(status) && (caught & (1 << 14)) !== 0;
}

for (const [name, {start, graceMs = 0, missing}] of Object.entries(phases)) {
  experiment(
    `SIGTERM, SIGINT, SIGHUP and --deadline while the run waits for ${name}: it ends`,
    async ({scale}) => {
      const bySignal = Array.from(
        {length: scale === 'long' ? 20 : 1},
        (_, index) => signals[index % 3] ?? 'SIGTERM',
      );
      // Without execve, Node waits for calls on its other threads before it ends with an exit status.
      const hasDeadlines = scale === 'long' && (!name.includes('disk') || 'execve' in process);
      const hows = hasDeadlines ? [...bySignal, ...deadlines] : bySignal;
      const broken: string[] = [];
      const times = {signal: [] as number[], deadline: [] as number[]};
      for (const how of hows) {
        const took = await endOne(start, how);
        if (typeof took === 'string') broken.push(took);
        else times[how === 'deadline' ? 'deadline' : 'signal'].push(took);
      }
      const grace = graceMs === 0 ? '' : `, a grace of ${graceMs} ms within`;
      const note = `after a signal ${spread(times.signal)}, after --deadline, start-up within, ${spread(times.deadline)}${grace}`;
      return {tried: hows.length, held: hows.length - broken.length, broken, note};
    },
    process.platform === 'linux' ? missing : 'only Linux tells what a process waits for',
  );
}

const deadlines = Array.from({length: 20}, () => 'deadline' as const);

function spread(times: readonly number[]): string {
  if (times.length === 0) return 'not tried';
  const sorted = [...times].sort((a, b) => a - b);
  const [middle = 0, worst = 0] = [sorted[sorted.length >> 1], sorted.at(-1)];
  return `${Math.round(middle)} ms (worst ${Math.round(worst)})`;
}
