import {type ChildProcess, spawn} from 'node:child_process';
import {Socket} from 'node:net';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {systemHost} from '../../host.ts';
import {parseObject} from '../../lib/json.ts';
import {hasShape} from '../../lib/shape.ts';
import {packageFile} from '../../package-file.ts';
import {factsIn, factsShape, type MediaFacts, type ProbeRequest} from './media-facts.ts';

interface Waiting extends ProbeRequest {
  readonly settle: (facts: MediaFacts) => void;
}

/** Limits for one file: time in milliseconds, and the heap of the process in MiB. */
const limits = {milliseconds: 2_000, heapMiB: 192};

/**
 * Inspects files. Images whose header is enough are read in this process. All others are read in a child process, since some files
 * keep a parser busy forever or exhaust memory. The child is started on first use and kept for the next file. If it fails, records
 * only lack some fields.
 */
class Prober {
  #child: ChildProcess | undefined;
  #isReady = false;
  /** In the order of the responses. */
  readonly #waiting: Waiting[] = [];
  #cancelLimit = () => {};

  /** Starts the process, unless it runs, if a file of this type will need it. */
  prepare(contentType: string): void {
    if (contentType.startsWith('video/')) this.#start();
  }

  /** The child does not keep this process alive, and ends with it. */
  #start(): void {
    if (this.#child !== undefined) return;
    const program = fileURLToPath(packageFile('dist/probe-child.cjs'));
    const child = spawn(systemHost().nodePath(), [`--max-old-space-size=${limits.heapMiB}`, program], {
      // The environment may contain keys, and the child needs none of it.
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    this.#child = child;
    this.#isReady = false;
    child.unref();
    child.on('error', () => this.#onEnd(child)).on('close', () => this.#onEnd(child));
    child.stdin?.on('error', () => {});
    if (child.stdout !== null)
      createInterface({input: child.stdout}).on('line', line => this.#onLine(child, line));
    this.#keepAlive(this.#waiting.length > 0);
  }

  /** The facts that can be read from a file; never rejects. */
  async probe(request: ProbeRequest): Promise<MediaFacts> {
    const {path, contentType} = request;
    if (!contentType.startsWith('image/')) return this.#probeApart(request);
    // Loaded on first use, since it would slow down the start of every run.
    const {probePlainImage} = await import('./probe-image.ts');
    const facts = await factsIn(path, handle => probePlainImage(handle, contentType));
    return facts ?? this.#probeApart(request);
  }

  #probeApart(request: ProbeRequest): Promise<MediaFacts> {
    return new Promise(settle => {
      this.#waiting.push({...request, settle});
      this.#start();
      if (this.#isReady && this.#waiting.length === 1) this.#askNext();
      this.#keepAlive(true);
    });
  }

  #onLine(child: ChildProcess, line: string): void {
    if (this.#child !== child) return;
    if (this.#isReady) {
      const facts = parseObject(line);
      this.#settle(facts !== undefined && hasShape(facts, factsShape) ? facts : {});
    }
    this.#isReady = true;
    this.#askNext();
  }

  #askNext(): void {
    const [next] = this.#waiting;
    const child = this.#child;
    if (next === undefined) {
      this.#keepAlive(false);
      return;
    }
    const {path, contentType} = next;
    child?.stdin?.write(`${JSON.stringify({path, contentType})}\n`);
    this.#cancelLimit = systemHost().clock.after(limits.milliseconds, () => child?.kill('SIGKILL'));
  }

  /** The child has ended because of the file it was reading; a new child reads the others. */
  #onEnd(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#settle({});
    if (this.#waiting.length > 0) this.#start();
  }

  #settle(facts: MediaFacts): void {
    this.#cancelLimit();
    this.#waiting.shift()?.settle(facts);
  }

  #keepAlive(isBusy: boolean): void {
    for (const pipe of [this.#child?.stdin, this.#child?.stdout]) {
      if (!(pipe instanceof Socket)) continue;
      if (isBusy) pipe.ref();
      else pipe.unref();
    }
  }
}

/** Shared by all services in this process. */
export const prober = new Prober();
