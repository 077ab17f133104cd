import {hash} from 'node:crypto';
import {MediaError} from '../../src/errors.ts';
import {parseRecord} from '../../src/service/record.ts';
import type {Refused, UploadAnswer, Uploader, UploadRequest} from '../../src/service/uploader.ts';
import type {Process} from './process.ts';
import type {World} from './world.ts';

/** What becomes of a request on its way, in the order in which it comes about. */
const fates = [
  'stored',
  /** Nobody listens. */
  'refused connection',
  /** The connection ends before the last bytes. */
  'cut',
  'early refusal',
  'early success',
  /** The service answers without having stored it. */
  'refused',
  'busy',
  'overloaded',
  /** The connection ends after the last bytes, which never arrived. */
  'lost',
  /** Stored, and then the connection ends, or a gateway or nobody answers. */
  'stored, reset',
  'stored, gateway',
  'stored, silent',
  'stored, garbage',
] as const;

type Fate = (typeof fates)[number];

export interface ServiceTraits {
  /** Whether it stores a file once for each Idempotency-Key. */
  honoursKeys: boolean;
  /** One in so many requests meets trouble. */
  troubleOneIn: number;
}

interface Stored {
  id: string;
  sha256: string;
  key: string;
}

/** A service that keeps what it is sent, each time it is sent it. */
export class SimulatedService {
  readonly #world: World;
  readonly traits: ServiceTraits;
  readonly stored: Stored[] = [];
  /** Whether requests meet no trouble any more. */
  isFair = false;
  /** Called with a content when its last bytes have left, and when it is stored. */
  onReleased: (sha256: string) => void = () => {};
  onStored: (sha256: string) => void = () => {};

  constructor(world: World, traits: ServiceTraits) {
    this.#world = world;
    this.traits = traits;
  }

  with(content: string): Stored[] {
    return this.stored.filter(one => one.sha256 === content);
  }

  /** The service as one process meets it. */
  uploader(process: Process): Uploader {
    return {
      upload: request => this.#upload(request, process),
      probeAvailability: () => process.step(() => undefined, 20),
    };
  }

  #fate(): Fate {
    return this.isFair || !this.#world.oneIn(this.traits.troubleOneIn) ? 'stored' : this.#world.pick(fates);
  }

  async #upload(request: UploadRequest, process: Process): Promise<UploadAnswer> {
    const fate = this.#fate();
    if (fate !== 'stored') this.#world.tell(`a request of process ${process.pid} meets: ${fate}`);
    const {signal} = request;
    const latency = 1 + this.#world.random() * 40;
    const step = <T>(action: () => T, ms = latency) => unlessAborted(process.step(action, ms), signal);
    if (fate === 'refused connection')
      return step(() => {
        throw new MediaError('connection_refused', 'Nothing is listening.');
      });
    const bytes = await this.#received(request, fate, step);
    if ('kind' in bytes) return bytes;
    // From here on, the service does what it does, whatever becomes of the process.
    if (fate === 'refused')
      return step(() => ({kind: 'refused', status: 415, message: 'no', serviceCode: 1}));
    if (fate === 'busy') return step(() => ({kind: 'refused', status: 429}));
    if (fate === 'overloaded')
      return step(() => ({kind: 'refused', status: 503, message: 'later', serviceCode: 1}));
    if (fate === 'lost') return step(reset);
    const answer = await this.#arrives(request, bytes, step);
    if (answer.kind === 'refused' || fate === 'stored') return answer;
    return step(() => afterStoring(fate));
  }

  /** Takes the body as a connection does; resolves to all of it, or to a response that came before its last bytes. */
  async #received(
    {body}: UploadRequest,
    fate: Fate,
    step: <T>(action: () => T, ms?: number) => Promise<T>,
  ): Promise<Buffer | UploadAnswer> {
    const wire = {connectMs: 1, unsentBytes: 0};
    await step(() => {});
    if (body.whole !== undefined && this.#world.oneIn(2)) {
      await body.whole.ready();
      if (fate === 'cut') return step(reset);
      body.release?.(wire);
      return Buffer.from(body.whole.bytes);
    }
    if (body.content instanceof Uint8Array) {
      if (fate === 'cut') return step(reset);
      body.release?.(wire);
      return Buffer.from(body.content);
    }
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body.content(wire)) {
      if (fate === 'cut') return step(reset);
      // A response that has begun is read instead of sending the last bytes.
      if (fate === 'early refusal') return step((): Refused => ({kind: 'refused', status: 413}));
      if (fate === 'early success') return step(record('med_early'));
      length += chunk.length;
      if (length === body.length) body.release?.(wire);
      parts.push(Buffer.from(chunk));
      await step(() => {}, this.#world.random());
    }
    return Buffer.concat(parts);
  }

  /** The last bytes arrive. What the process does meanwhile no longer matters. */
  #arrives(
    {idempotencyKey: key}: UploadRequest,
    bytes: Buffer,
    step: <T>(action: () => T, ms?: number) => Promise<T>,
  ): Promise<UploadAnswer> {
    const content = sha256(bytes);
    let id = '';
    this.onReleased(content);
    this.#world.after(this.#world.random() * 40, () => {
      const known = this.traits.honoursKeys ? this.stored.find(one => one.key === key) : undefined;
      id = known?.id ?? `med_${this.stored.length}`;
      if (known !== undefined && known.sha256 !== content) {
        id = '';
        this.#world.tell(`the service refuses ${key}, which it knows with other content`);
      } else if (known === undefined) {
        this.stored.push({id, sha256: content, key});
        this.onStored(content);
        this.#world.tell(`the service stores ${content.slice(0, 6)} as ${id}`);
      }
    });
    return step(
      () => (id === '' ? {kind: 'refused', status: 422} : record(id)()),
      41 + this.#world.random() * 40,
    );
  }
}

const record = (id: string) => (): UploadAnswer => {
  const received = parseRecord(JSON.stringify({id, type: 'IMAGE'}));
  if ('problem' in received) throw new Error(received.problem);
  return {kind: 'stored', received};
};

function reset(): never {
  throw Object.assign(new Error('reset'), {code: 'ECONNRESET'});
}

function afterStoring(fate: Fate): UploadAnswer {
  if (fate === 'stored, gateway') return {kind: 'refused', status: 502};
  if (fate === 'stored, garbage') return {kind: 'unreadable', status: 200, problem: 'not JSON'};
  return reset();
}

/** The promise, unless the request is ended first, as a connection is then. */
function unlessAborted<T>(promise: Promise<T>, signal: UploadRequest['signal']): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, {once: true});
    promise.then(resolve, reject);
  });
}

export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
