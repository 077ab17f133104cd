import type {Host, StopSignal} from '../../host.ts';
import {type Holder, holderText, stateOf} from '../../lib/files/holder.ts';
import {acquireLock, type Lock, LockHeld, pollMs, staleMs} from '../../lib/files/lock.ts';
import {inUse} from './errors.ts';
import {cannotOpen, type JournalHandle} from './file.ts';
import type {WriterLine} from './parse.ts';

/** How a run treats a journal that another run may hold. */
export interface Patience {
  /** How long to wait for a run that is certainly alive, in milliseconds. */
  patienceMs?: number | undefined;
  /** Whether a holder that cannot be judged from here counts as gone. */
  isGone?: boolean | undefined;
  /** Receives a note when the run has to wait, and when it has taken a journal over. */
  note?: ((text: string) => void) | undefined;
  stop?: StopSignal | undefined;
}

/**
 * Locks a journal against other runs. Waits for a holder that cannot be judged from here, until it renews its lock or
 * has shown no activity for 90 s.
 */
export async function lockJournal(
  absolute: string,
  shown: string,
  host: Host,
  {patienceMs = 0, isGone = false, note = () => {}, stop}: Patience = {},
): Promise<Lock> {
  try {
    const onUnknownHolder = (holder: Holder | undefined) => note(waitingText(shown, holder));
    const lock = await acquireLock(`${absolute}.lock`, host, {patienceMs, isGone, onUnknownHolder, stop});
    const {replaced} = lock;
    if (replaced !== undefined && stateOf(replaced, host) === 'unknown') note(takenText(shown, replaced));
    return lock;
  } catch (error) {
    if (error instanceof LockHeld) throw inUse(shown, error.holder);
    throw stop?.aborted ? error : cannotOpen(shown, error);
  }
}

/** A journal whose last writer has not recorded its end. */
export interface AbandonedJournal {
  handle: Pick<JournalHandle, 'stat'>;
  lock: Lock;
  shown: string;
  writer: WriterLine;
}

/**
 * Waits until its last writer is certainly gone: one that left no lock, or that cannot be judged from here. Rejects if
 * that writer writes meanwhile or is certainly alive.
 */
export async function waitForWriter(
  journal: AbandonedJournal,
  host: Host,
  patience: Patience,
): Promise<void> {
  const {writer, lock, shown, handle} = journal;
  const {note = () => {}, isGone, stop} = patience;
  const {holder} = writer;
  const state = holder === undefined ? 'unknown' : stateOf(holder, host);
  if (state === 'dead' || lock.replaced?.token === writer.by) return;
  if (state === 'alive') throw inUse(shown, holder);
  const found = await handle.stat();
  const since = host.clock.monotonic();
  let isAnnounced = false;
  // Where the clock was set back since, the age of the file says nothing: then it is waited for as long here.
  while (!isGone && host.clock.monotonic() - since < staleMs) {
    const {size, mtimeMs} = await handle.stat();
    if (size !== found.size) throw inUse(shown, holder);
    // Compares with the time of a file that is written now, so that the clocks of two machines are never compared.
    if ((await lock.touched()) - mtimeMs >= staleMs) break;
    if (!isAnnounced) note(waitingText(shown, holder));
    isAnnounced = true;
    await host.clock.sleep(pollMs, stop);
  }
  note(takenText(shown, holder));
}

function waitingText(shown: string, holder: Holder | undefined): string {
  return `Waiting: the journal ${shown} is held by ${holderText(holder)}, which may still be running. If it shows no activity for 90 s, this run takes the journal over.`;
}

function takenText(shown: string, holder: Holder | undefined): string {
  return `The journal ${shown} was taken over from ${holderText(holder)}.`;
}
