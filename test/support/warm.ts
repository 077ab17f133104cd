import {type ChildProcess, spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import type {Socket} from 'node:net';
import {fileURLToPath} from 'node:url';

/** How a run of the program ended, and its output. */
export interface Finished {
  stdout: string;
  stderr: string;
  /** Undefined if a signal ended it. */
  exitCode: number | undefined;
  signal: NodeJS.Signals | undefined;
}

/** One command line with its working directory and environment. */
export interface CommandLine {
  parameters: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  timeoutMs: number;
  /** What stands in its standard input, which is empty without it. */
  input?: string | undefined;
}

const newline = 10;

const idle: WarmProgram[] = [];

/**
 * Runs a command line in a process that has already loaded the built program: with the same code, streams, environment
 * and directory as in a new process, but in a twentieth of the CPU time. After a run that leaves something behind (a
 * timer, a socket, a listener), the process is not used again, so that runs cannot affect each other.
 */
export async function runWarm(line: CommandLine): Promise<Finished> {
  const warm = idle.pop() ?? new WarmProgram();
  const finished = await warm.run(line);
  if (!warm.isSpent) idle.push(warm);
  return finished;
}

/** Two runs of one process may only differ in what each run sets itself, not in what Node reads at its start. */
export function canRunWarm(parameters: readonly string[], env: Readonly<Record<string, string>>): boolean {
  const [command = ''] = parameters;
  return (
    !['', '--version', '--help', 'completion', 'serve'].includes(command) &&
    !Object.keys(env).some(name => /^(NODE_|UV_|LC_|LANG|TZ$|SSL_|LD_)/.test(name))
  );
}

class WarmProgram {
  readonly #child: ChildProcess;
  readonly #streams: readonly [Socket, Socket];
  readonly #ended: Promise<{code: number | null; signal: NodeJS.Signals | null}>;
  isSpent = false;

  constructor() {
    this.#child = spawn(process.execPath, [fileURLToPath(new URL('warm-program.cjs', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {},
    });
    // Pipes of a child process are sockets.
    this.#streams = [this.#child.stdout as Socket, this.#child.stderr as Socket];
    // Only after every stream has ended, so that no output is missed.
    this.#ended = new Promise(resolve => {
      this.#child.on('close', (code, signal) => resolve({code, signal}));
    });
  }

  async run({timeoutMs, ...line}: CommandLine): Promise<Finished> {
    const end = `\0${randomUUID()}\0`;
    this.#hold(true);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    const stdout = new Captured(this.#streams[0], end);
    const stderr = new Captured(this.#streams[1], end);
    this.#child.send({...line, end});
    const early = await Promise.race([
      this.#ended,
      Promise.all([stdout.whole, stderr.whole]).then(() => undefined),
    ]);
    clearTimeout(timer);
    // The run's connections were closed before its output ended; give the test's servers time to notice.
    for (let turns = 0; turns < 5; turns += 1)
      await new Promise(resolve => {
        setImmediate(resolve);
      });
    const [out, rest = ''] = stdout.stop().split(end);
    const [err] = stderr.stop().split(end);
    const told: {status: number | NodeJS.Signals; isSpent: boolean} | undefined =
      early === undefined ? JSON.parse(rest) : undefined;
    this.isSpent = told?.isSpent ?? true;
    if (this.isSpent) this.#child.kill('SIGKILL');
    else this.#hold(false);
    const status = told?.status ?? early?.code ?? early?.signal ?? undefined;
    return {
      stdout: out ?? '',
      stderr: err ?? '',
      exitCode: typeof status === 'number' ? status : undefined,
      signal: typeof status === 'string' ? status : undefined,
    };
  }

  /** Whether the process keeps the test process alive. */
  #hold(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref';
    this.#child[method]();
    this.#child.channel?.[method]();
    for (const stream of this.#streams) stream[method]();
  }
}

/** Collects the output of a stream from now on, until a line with the mark has arrived. */
class Captured {
  readonly #stream: Socket;
  readonly #chunks: Buffer[] = [];
  readonly #onData: (chunk: Buffer) => void;
  readonly whole: Promise<void>;

  constructor(stream: Socket, mark: string) {
    this.#stream = stream;
    let resolveWhole: () => void;
    this.whole = new Promise(resolve => {
      resolveWhole = resolve;
    });
    this.#onData = chunk => {
      this.#chunks.push(chunk);
      // The line with the mark is written in one piece and comes last.
      if (chunk.at(-1) !== newline) return;
      if (Buffer.concat(this.#chunks.slice(-3)).includes(mark)) resolveWhole();
    };
    stream.on('data', this.#onData);
  }

  /** The collected output, as text. */
  stop(): string {
    this.#stream.off('data', this.#onData);
    return Buffer.concat(this.#chunks).toString();
  }
}
