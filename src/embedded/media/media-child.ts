import {type ChildProcess, type SpawnOptions, spawn} from 'node:child_process';
import {dirname} from 'node:path';
import {systemHost} from '../../host.ts';
import {isObject} from '../../lib/json.ts';
import {defined} from '../../lib/object.ts';
import {childParameters} from '../../package-file.ts';
import type {MediaRequest} from './media-facts.ts';
import {limitedCommand} from './process-limits.ts';

/** How long one response may take: this ends what waits forever, while the process limits its own processor time. */
const limitMs = 60_000;

interface WaitingRequest {
  readonly request: MediaRequest;
  readonly settle: (response: Record<string, unknown> | undefined) => void;
}

/**
 * A child process that reads media files, some of which crash a parser or keep it busy forever. It is started on first use and kept;
 * it is killed if a response takes too long, and a new one serves the other requests. It does not keep this process alive, and ends
 * with it. Requests and responses are messages of Node's IPC channel; the first message says that it is ready.
 */
export class MediaChild {
  readonly #path: string | undefined;
  #process: ChildProcess | undefined;
  #isReady = false;
  /** In the order of the responses. */
  readonly #waiting: WaitingRequest[] = [];
  #cancelLimit = () => {};

  /** `path`: where ffmpeg and ffprobe are looked for; by default PATH. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Starts the process, unless it runs. */
  start(): void {
    if (this.#process !== undefined) return;
    const node = systemHost().nodePath();
    const command = [node, ...childParameters('media')];
    // The thread that reads, and the one that waits for it.
    const [program, parameters] = limitedCommand(command, {nodeThreads: 2});
    const options = {
      // The working directory may have been removed.
      cwd: dirname(node),
      // The service's own environment may contain keys.
      env: defined({PATH: this.#path ?? systemHost().env['PATH']}),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      windowsHide: true,
    } satisfies SpawnOptions;
    let child: ChildProcess;
    try {
      child = spawn(program, parameters, options);
    } catch {
      // There is no memory for a process, for example.
      for (const {settle} of this.#waiting.splice(0)) settle(undefined);
      return;
    }
    this.#process = child;
    this.#isReady = false;
    child.unref();
    child.on('error', () => this.#onEnd(child)).on('exit', () => this.#onEnd(child));
    child.on('message', message => this.#onMessage(child, message));
    this.#keepAlive(this.#waiting.length > 0);
  }

  /** The response to a request; undefined if no process could be started, or if it ended or was killed because of it. Never rejects. */
  ask(request: MediaRequest): Promise<Record<string, unknown> | undefined> {
    return new Promise(settle => {
      this.#waiting.push({request, settle});
      this.start();
      if (this.#waiting.length === 1) this.#askNext();
      this.#keepAlive(true);
    });
  }

  #onMessage(child: ChildProcess, message: unknown): void {
    if (this.#process !== child) return;
    if (this.#isReady) this.#waiting.shift()?.settle(isObject(message) ? message : undefined);
    this.#isReady = true;
    this.#askNext();
  }

  /** Sends the next request as soon as the process is ready, and limits the time for both. */
  #askNext(): void {
    this.#cancelLimit();
    const [next] = this.#waiting;
    const child = this.#process;
    if (next === undefined) {
      this.#keepAlive(false);
      return;
    }
    // If it has ended, onEnd settles the request.
    if (this.#isReady) child?.send(next.request, () => {});
    this.#cancelLimit = systemHost().clock.after(limitMs, () => child?.kill('SIGKILL'));
  }

  /** The process has ended because of the file that it was reading. */
  #onEnd(child: ChildProcess): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.#waiting.shift()?.settle(undefined);
    if (this.#waiting.length > 0) this.start();
    this.#askNext();
  }

  #keepAlive(isBusy: boolean): void {
    const channel = this.#process?.channel;
    if (isBusy) channel?.ref();
    else channel?.unref();
  }
}
