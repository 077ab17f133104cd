import {type ChildProcess, type SpawnOptions, spawn} from 'node:child_process';
import {once} from 'node:events';
import {dirname} from 'node:path';
import {systemHost} from '../../host.ts';
import {isObject} from '../../lib/json.ts';
import {limitConcurrency} from '../../lib/limited.ts';
import {omitUndefined} from '../../lib/object.ts';
import {undefinedIfThrows} from '../../lib/system-code.ts';
import {childParameters} from '../../package-file.ts';
import type {MediaRequest} from './media-facts.ts';
import {limitedCommand} from './process-limits.ts';

/** A process, since it was started. */
interface Running {
  readonly child: ChildProcess;
  /** Aborted when it has ended, or could not be started. */
  readonly end: AbortSignal;
}

/**
 * A child process that reads media files, some of which crash a parser or keep it busy forever. It is started on first
 * use and kept; it is killed if a response takes too long, and a new one serves the other requests. It does not keep
 * this process alive, and ends with it. Requests and responses are messages of Node's IPC channel.
 */
export class MediaChild {
  readonly #path: string | undefined;
  readonly #inTurn = limitConcurrency(1);
  #running: Running | undefined;

  /** `path`: where ffmpeg and ffprobe are looked for; by default PATH. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Starts the process, unless it runs; undefined if that is impossible, for lack of memory for example. */
  start(): Running | undefined {
    if (this.#running?.end.aborted === false) return this.#running;
    const node = systemHost().nodePath();
    const command = [node, ...childParameters('media')];
    // The thread that reads, and the one that waits for it.
    const [program, parameters] = limitedCommand(command, {nodeThreads: 2});
    const options = {
      // The working directory may have been removed.
      cwd: dirname(node),
      // The service's own environment may contain keys.
      env: omitUndefined({PATH: this.#path ?? systemHost().env['PATH']}),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      windowsHide: true,
    } satisfies SpawnOptions;
    const child = undefinedIfThrows(() => spawn(program, parameters, options));
    if (child === undefined) return undefined;
    child.unref();
    child.channel?.unref();
    const ending = new AbortController();
    child.on('error', () => ending.abort()).on('exit', () => ending.abort());
    this.#running = {child, end: ending.signal};
    return this.#running;
  }

  /** The response to a request; undefined if the process did not start, ended or was killed. Never rejects. */
  ask(request: MediaRequest): Promise<Record<string, unknown> | undefined> {
    return this.#inTurn(async () => {
      const running = this.start();
      if (running === undefined) return undefined;
      const {child, end} = running;
      child.channel?.ref();
      // Ends what waits forever; the processor time is limited by the process itself.
      const cancelLimit = systemHost().clock.after(60_000, () => child.kill('SIGKILL'));
      const response = once(child, 'message', {signal: end});
      // The request waits in the channel while the process starts. Sending it fails only if the process has ended.
      child.send(request, () => {});
      const [message] = await response.catch(() => []);
      cancelLimit();
      child.channel?.unref();
      return isObject(message) ? message : undefined;
    });
  }
}
