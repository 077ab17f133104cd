import {hash} from 'node:crypto';
import type {Uploader, UploadRequest, UploadResponse} from '../../src/engine/service/uploader.ts';
import {MediaError} from '../../src/errors.ts';
import {drawTrouble, Exchange, noTrouble, type Receiver} from './network.ts';
import type {Process} from './process.ts';
import type {World} from './world.ts';

export interface ServiceTraits {
  /** Whether it stores a file once for each Idempotency-Key, and declares that with each response. */
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
  /** The keys with which the last bytes of a file have left. */
  readonly releasedKeys = new Set<string>();
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
    let honoursKeys: true | undefined;
    const heard = <Answer>(answer: Answer) => {
      honoursKeys = this.traits.honoursKeys || undefined;
      return answer;
    };
    return {
      upload: async request => heard(await this.#upload(request, process)),
      probeAvailability: () => process.step(() => heard(undefined), 20),
      get honoursKeys() {
        return honoursKeys;
      },
    };
  }

  #upload(request: UploadRequest, process: Process): Promise<UploadResponse> {
    const world = this.#world;
    const isTroubled = !this.isFair && world.oneIn(this.traits.troubleOneIn);
    if (isTroubled && world.oneIn(12))
      return process.step(() => {
        throw new MediaError('connection_refused', 'Nothing is listening.');
      }, 40);
    const trouble = isTroubled ? drawTrouble(world, request.body.length) : noTrouble;
    if (isTroubled) world.tell(`a request of process ${process.pid} meets ${JSON.stringify(trouble)}`);
    return new Exchange({world, process, receiver: this.#receiver(request)}, request, trouble).run();
  }

  #receiver({idempotencyKey: key}: UploadRequest): Receiver {
    return {
      released: body => {
        this.releasedKeys.add(key);
        this.onReleased(sha256(body));
      },
      store: body => {
        const content = sha256(body);
        const known = this.traits.honoursKeys ? this.stored.find(one => one.key === key) : undefined;
        if (known?.sha256 === content) return known.id;
        if (known !== undefined) {
          this.#world.tell(`the service refuses ${key}, which it knows with other content`);
          return undefined;
        }
        const id = `med_${this.stored.length}`;
        this.stored.push({id, sha256: content, key});
        this.onStored(content);
        this.#world.tell(`the service stores ${content.slice(0, 6)} as ${id}`);
        return id;
      },
    };
  }
}

export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
