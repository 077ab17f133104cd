import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {Socket} from 'node:net';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {systemHost} from '../../host.ts';
import {parseObject} from '../../lib/json.ts';
import {defined} from '../../lib/object.ts';
import {packageFile} from '../../package-file.ts';
import type {MediaRequest} from './media-facts.ts';

const programFile = 'dist/media-program.cjs';
/** Samples of videos and pictures are held outside the heap. */
const heapOption = '--max-old-space-size=192';

/**
 * What the process, and each that it starts, may allocate: the system refuses more, and the shell is the only one to tell it so.
 * Windows and macOS have no such limit.
 */
const mostMemoryKiB = 448 * 1024;
const shell = '/bin/sh';
const limited = `ulimit -c 0; ulimit -d ${mostMemoryKiB}; exec "$0" "$@"`;

interface WaitingRequest {
  readonly request: MediaRequest;
  readonly settle: (response: Record<string, unknown> | undefined) => void;
}

/**
 * A child process that reads media files, some of which crash a parser or keep it busy forever. It is started on first use and kept;
 * it is killed if a response takes too long, and a new one serves the other requests. It does not keep this process alive, and ends
 * with it. One JSON object per line goes in and out; its first line says that it is ready.
 */
export class MediaChild {
  readonly #limitMs: number;
  readonly #path: string | undefined;
  #process: ChildProcess | undefined;
  #isReady = false;
  /** In the order of the responses. */
  readonly #waiting: WaitingRequest[] = [];
  #cancelLimit = () => {};

  /** `limitMs`: how long one response may take; `path`: where ffmpeg and ffprobe are looked for; by default PATH. */
  constructor(limitMs: number, path?: string) {
    this.#limitMs = limitMs;
    this.#path = path;
  }

  /** Starts the process, unless it runs. */
  start(): void {
    if (this.#process !== undefined) return;
    const command = [systemHost().nodePath(), heapOption, fileURLToPath(packageFile(programFile))];
    const [program = '', ...parameters] = existsSync(shell) ? [shell, '-c', limited, ...command] : command;
    const child = spawn(program, parameters, {
      // The service's own environment may contain keys.
      env: defined({PATH: this.#path ?? systemHost().env['PATH']}),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    this.#process = child;
    this.#isReady = false;
    child.unref();
    child.on('error', () => this.#onEnd(child)).on('close', () => this.#onEnd(child));
    child.stdin?.on('error', () => {});
    if (child.stdout !== null)
      createInterface({input: child.stdout}).on('line', line => this.#onLine(child, line));
    this.#keepAlive(this.#waiting.length > 0);
  }

  /** The response to a request; undefined if the process ended or was killed because of it. Never rejects. */
  ask(request: MediaRequest): Promise<Record<string, unknown> | undefined> {
    return new Promise(settle => {
      this.#waiting.push({request, settle});
      this.start();
      if (this.#isReady && this.#waiting.length === 1) this.#askNext();
      this.#keepAlive(true);
    });
  }

  #onLine(child: ChildProcess, line: string): void {
    if (this.#process !== child) return;
    if (this.#isReady) this.#settle(parseObject(line));
    this.#isReady = true;
    this.#askNext();
  }

  #askNext(): void {
    const [next] = this.#waiting;
    const child = this.#process;
    if (next === undefined) {
      this.#keepAlive(false);
      return;
    }
    child?.stdin?.write(`${JSON.stringify(next.request)}\n`);
    this.#cancelLimit = systemHost().clock.after(this.#limitMs, () => child?.kill('SIGKILL'));
  }

  /** The process has ended because of the file that it was reading. */
  #onEnd(child: ChildProcess): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.#settle(undefined);
    if (this.#waiting.length > 0) this.start();
  }

  #settle(response: Record<string, unknown> | undefined): void {
    this.#cancelLimit();
    this.#waiting.shift()?.settle(response);
  }

  #keepAlive(isBusy: boolean): void {
    for (const pipe of [this.#process?.stdin, this.#process?.stdout]) {
      if (!(pipe instanceof Socket)) continue;
      if (isBusy) pipe.ref();
      else pipe.unref();
    }
  }
}
