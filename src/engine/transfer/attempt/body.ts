import {createHash} from 'node:crypto';
import type {Clock, StopSignal} from '../../../host.ts';
import {unlessStopped} from '../../../lib/stop.ts';
import type {Body, Wire} from '../../http/http.ts';
import type {UploadLog} from '../../journal/journal.ts';
import type {OpenSource, SmallContent} from '../../sources/open/source.ts';
import {ChunkPace, chunksOf, refuseCutShort, smallestChunk} from './chunks.ts';
import type {RateLimit} from './rate-limit.ts';

export interface BodyOptions {
  source: OpenSource;
  /** Returns what is sent instead of these bytes, as many, in other memory; unset if they are sent as they are. */
  transformed?: ((bytes: Uint8Array, position: number) => Uint8Array) | undefined;
  clock: Clock;
  /** Shared by all uploads, if there is a limit. */
  rateLimit?: RateLimit | undefined;
  /** Where the journal records that the last chunk is about to be sent, which needs the hash of the source. */
  entry?: UploadLog | undefined;
  /** Whether the source is hashed even without an entry, since only that can show whether it has changed. */
  isHashed?: boolean;
}

/** Receives the progress of a body. */
export interface BodyWatcher {
  /** Aborted when the attempt ends; a connection that is being closed may read the body on. */
  readonly signal: StopSignal<Error>;
  /** The next bytes, or their hash, are being read; are about to be sent; or wait for the rate limit. */
  onStep(step: 'reading' | 'sending' | 'waiting'): void;
  /** This many bytes have left the process. */
  onSent(bytes: number): void;
  /** The last bytes are about to be sent over this connection: from now on the request may take effect. */
  onRelease(wire: Wire): void;
  /** The source could not be sent (`unsure` or a MediaError), or there is a bug. */
  onFailure(error: unknown): void;
}

/** Why a body fails if only a hash, which was not computed, could show whether the source has changed. */
export const needsHash = new Error('The source may have changed.');

/** Bodies of this size or more wait for a round trip before their release, since the service may be refusing them. */
const longPauseBytes = 4 * 1024 * 1024;

/** Smaller bodies wait this many milliseconds, enough for a nearby service; those of one chunk do not wait. */
const shortPauseMs = 5;

/** Makes a source the body of one attempt. A small file is read here, unless a rate limit spreads it over time. */
export async function openBody(options: BodyOptions, watcher: BodyWatcher): Promise<Body> {
  const {source, rateLimit} = options;
  const small = rateLimit === undefined ? await source.small?.() : undefined;
  if (small !== undefined && small.bytes.length < source.size) await refuseCutShort(source);
  // The first chunk waits for the rate limit here, since the server could close an idle connection.
  await rateLimit?.take(Math.min(rateLimit.chunkBytes, source.size), watcher.signal);
  return bodyOf(options, watcher, small);
}

/** The body of an attempt; `small`: all of it, read already. Its last chunk waits as awaitRelease() says. */
function bodyOf(options: BodyOptions, watcher: BodyWatcher, small: SmallContent | undefined): Body {
  const {source, entry, transformed} = options;
  const sha256 = entry?.sha256;
  const bytes = small && (transformed?.(small.bytes, 0) ?? small.bytes);
  /** Whether all of it is sent with the head, as it is where it waits for nothing or only for the journal. */
  let isWhole = bytes !== undefined && entry === undefined;
  /** Throws the error, which the watcher keeps: the request itself only reports that it ended. */
  const failed = (error: unknown): never => {
    watcher.onFailure(error);
    throw error;
  };
  /** Resolves when it is committed; rejects at once when the attempt ends, since a disk may never respond. */
  const commitWhole = async (commit: () => Promise<void>) => {
    isWhole = true;
    watcher.onStep('sending');
    watcher.signal.throwIfAborted();
    await unlessStopped(commit(), watcher.signal);
  };
  return {
    length: source.size,
    content: bytes !== undefined && isWhole ? bytes : wire => chunksIn(options, watcher, wire, small),
    // A small file that waits only for its commit is sent with the head, too, if the connection is open already.
    whole:
      bytes !== undefined && entry !== undefined && sha256 !== undefined
        ? {bytes, ready: () => commitWhole(() => entry.commit(sha256)).catch(failed)}
        : undefined,
    /** Called by the connection right before it writes the last bytes; throws if the file must not be stored. */
    release(wire) {
      try {
        if (isWhole) small?.verify();
      } catch (error) {
        failed(error);
      }
      watcher.onRelease(wire);
      if (isWhole) watcher.onSent(source.size);
    },
  };
}

/** The chunks as they may be sent: within the rate limit, hashed if needed, the last one after awaitRelease(). */
async function* chunksIn(options: BodyOptions, watcher: BodyWatcher, wire: Wire, small?: SmallContent) {
  const {source, clock, rateLimit, entry, isHashed = entry !== undefined, transformed} = options;
  const pace = new ChunkPace(rateLimit?.chunkBytes);
  const digest = !isHashed || entry?.sha256 !== undefined ? undefined : createHash('sha256');
  let sent = 0;
  watcher.onStep('reading');
  try {
    for await (const chunk of small === undefined ? chunksOf(source, pace, wire) : [small.bytes]) {
      if (rateLimit !== undefined && sent > 0) {
        // openBody() has taken the first chunk's share; waiting for the rate limit is not a stall.
        watcher.onStep('waiting');
        await rateLimit.take(chunk.length, watcher.signal);
        watcher.onStep('reading');
      }
      digest?.update(chunk);
      if (sent + chunk.length === source.size)
        await awaitRelease(options, watcher, wire, entry?.sha256 ?? digest?.digest('hex'));
      const start = clock.monotonic();
      watcher.onStep('sending');
      yield transformed?.(chunk, sent) ?? chunk;
      pace.learn(chunk.length, clock.monotonic() - start);
      sent += chunk.length;
      watcher.onSent(sent);
    }
  } catch (error) {
    watcher.onFailure(error);
    throw error;
  }
}

/**
 * Resolves when the last chunk may be sent: the service had time to refuse, the source is unchanged, and the commit is
 * durable, which comes last: a file looks unknown after a commit without a release. `sha256`: of the source, if hashed.
 */
async function awaitRelease(options: BodyOptions, watcher: BodyWatcher, wire: Wire, sha256?: string) {
  const {source, clock, entry} = options;
  const {signal} = watcher;
  const pauseMs = pauseBeforeRelease(source.size, wire.connectMs);
  if (pauseMs > 0) await clock.sleep(pauseMs, signal);
  const verdict = await source.verify({sha256, onRead: () => watcher.onStep('reading')});
  if (verdict === 'only its hash can tell') throw needsHash;
  // Nothing is released any more, so the journal must not say that it may have been.
  signal.throwIfAborted();
  if (sha256 !== undefined) await entry?.commit(sha256);
  signal.throwIfAborted();
}

/** How long the last chunk waits for an early refusal, in milliseconds; 0 for a body of one chunk. */
function pauseBeforeRelease(size: number, connectMs: number): number {
  if (size <= smallestChunk) return 0;
  return size < longPauseBytes ? shortPauseMs : Math.min(1_000, Math.max(shortPauseMs, 2 * connectMs));
}
