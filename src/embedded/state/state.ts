import {resolve} from 'node:path';
import {type Clock, type StopSignal, systemClock, systemHost} from '../../host.ts';
import {makeDirectory} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {Store} from './data-store.ts';
import {idempotencyEntries} from './idempotency.ts';
import {keyRing} from './keys.ts';
import {occupy} from './occupancy.ts';
import {Resets} from './resets.ts';
import {browserSessions} from './sessions.ts';
import {userProfile} from './store-identity.ts';

export {ignoreDamage} from './kept-file.ts';

/** What a service keeps in its data directory, its sessions and resets, and the time by which it lives. */
export type ServiceState = Awaited<ReturnType<typeof openState>>;

export interface StateOptions {
  /** Where everything is stored; created if missing (0700). Two processes may share it unless both are `exclusive`. */
  dataDirectory: string;
  clock?: Clock;
  /** Whether no other service uses the directory, so that this one may remove unfinished files. Default false. */
  exclusive?: boolean;
  /** How many bytes all uploads together may have; more get a 507. Default: what the disk holds. */
  quota?: number;
  /** Ends the start if it is aborted first; the start then rejects with its reason. */
  signal?: StopSignal;
  /** Called with a sentence if the start has to wait. */
  onWait?: (why: string) => void;
}

/** Opens the data directory; rejects if it is unusable, its keys are unreadable, or another service owns it. */
export async function openState(options: StateOptions) {
  const {clock = systemClock, exclusive = false, quota, signal, onWait = () => {}} = options;
  const dataDirectory = resolve(options.dataDirectory);
  await makeDirectory(dataDirectory, systemFiles, 0o700);
  const leave = exclusive ? await occupy(dataDirectory, systemHost(), onWait, signal) : undefined;
  try {
    const store = new Store(dataDirectory, clock, quota);
    const leftBehind = await store.prepare(exclusive);
    const newDraft = () => store.temporaryPath();
    const keys = await keyRing(dataDirectory, newDraft, clock);
    return {
      clock,
      leftBehind,
      store,
      keys,
      profile: userProfile(dataDirectory, newDraft),
      entries: idempotencyEntries(store, clock),
      sessions: browserSessions(),
      resets: new Resets(),
      /** Resolves when everything is written; another service may then have the directory. */
      close: async () => {
        await keys.waitForWrites();
        await leave?.();
      },
    };
  } catch (error) {
    await leave?.();
    throw error;
  }
}
