import {type ChildProcess, spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {Socket} from 'node:net';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {systemHost} from '../../host.ts';
import {defined} from '../../lib/defined.ts';
import {parseObject} from '../../lib/json.ts';
import {packageFile} from '../../package-file.ts';

/** A medium, and where its thumbnail is to be written. */
export interface ThumbnailRequest {
  readonly path: string;
  readonly target: string;
  readonly contentType: string;
}

interface WaitingRequest extends ThumbnailRequest {
  readonly settle: (isMade: boolean) => void;
}

/** How long a thumbnail may take, the start of the process included. */
const limitMs = 12_000;

/**
 * Makes thumbnails in a child process, if sharp is installed: images are decoded by native code, which a file may crash or keep
 * busy. The child is started on first use and kept. If it fails, only thumbnails are missing.
 */
class Thumbnailer {
  #isPossible: boolean | undefined;
  #child: ChildProcess | undefined;
  /** In the order in which they are made. */
  readonly #waiting: WaitingRequest[] = [];
  #cancelLimit = () => {};

  /** Writes the thumbnail of a medium, a WebP of at most 320 pixels; resolves with whether it did, and never rejects. */
  make(request: ThumbnailRequest): Promise<boolean> {
    this.#isPossible ??= isInstalled('sharp');
    if (!this.#isPossible || /xml/i.test(request.contentType)) return Promise.resolve(false);
    return new Promise(settle => {
      this.#waiting.push({...request, settle});
      if (this.#waiting.length === 1) this.#askNext();
    });
  }

  #start(): ChildProcess {
    const {env, nodePath} = systemHost();
    const program = fileURLToPath(packageFile('dist/thumbnail-child.cjs'));
    const child = spawn(nodePath(), [program], {
      // The environment may contain keys, and the child needs only the PATH to ffmpeg.
      env: defined({PATH: env['PATH']}),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    child.unref();
    child.on('error', () => this.#onEnd(child)).on('close', () => this.#onEnd(child));
    child.stdin?.on('error', () => {});
    if (child.stdout !== null)
      createInterface({input: child.stdout}).on('line', line => this.#onLine(child, line));
    return child;
  }

  #askNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#keepAlive(false);
      return;
    }
    this.#child ??= this.#start();
    const child = this.#child;
    const {path, target, contentType} = next;
    this.#keepAlive(true);
    child.stdin?.write(`${JSON.stringify({path, target, contentType})}\n`);
    this.#cancelLimit = systemHost().clock.after(limitMs, () => child.kill('SIGKILL'));
  }

  #onLine(child: ChildProcess, line: string): void {
    if (this.#child === child) this.#settle(parseObject(line)?.['isMade'] === true);
  }

  /** The child has ended because of the medium it was reading; a new child makes the others. */
  #onEnd(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#waiting.length > 0) this.#settle(false);
  }

  #settle(isMade: boolean): void {
    this.#cancelLimit();
    this.#waiting.shift()?.settle(isMade);
    this.#askNext();
  }

  #keepAlive(isBusy: boolean): void {
    for (const pipe of [this.#child?.stdin, this.#child?.stdout]) {
      if (!(pipe instanceof Socket)) continue;
      if (isBusy) pipe.ref();
      else pipe.unref();
    }
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(packageFile('package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Shared by all services in this process. */
export const thumbnailer = new Thumbnailer();
