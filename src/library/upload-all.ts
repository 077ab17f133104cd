import {resolve} from 'node:path';
import {type JournalLookup, openJournal, readLookup} from '../engine/journal/journal.ts';
import type {Uploader} from '../engine/service/uploader.ts';
import {Disk} from '../engine/sources/open/disk.ts';
import {
  type TransferObserver,
  type TransferOptions,
  uploadBatch as transferAll,
} from '../engine/transfer/batch.ts';
import {type UploadResult, withHints} from '../engine/transfer/outcome.ts';
import {transferDefaults} from '../engine/transfer/transfer-options.ts';
import {MediaError} from '../errors.ts';
import {hintText} from '../hint.ts';
import {type Host, systemHost} from '../host.ts';
import {omitUndefined} from '../lib/object.ts';
import {Stop} from '../lib/stop.ts';
import {certainSize} from '../media/pixels/probe.ts';
import {decideSourceType, parseContentType, type TypeRule} from '../media/type/decide.ts';
import {callInWords, inLibraryWords, libraryFace} from './library-face.ts';
import {allowManyListeners, itemsOf, sourcesFrom} from './library-inputs.ts';
import {type Checks, check, checkOptions, refuseSingle, requiredCheck} from './option-checks.ts';
import type {UploadInput} from './sources.ts';

export interface UploadOptions {
  /** A MediaClient. It stays open. */
  client: Uploader & {readonly host: string; readonly baseUrl?: string};
  /** How many files at a time, from 1 to 1,000; `auto` by default. */
  concurrency?: number | 'auto';
  /** Attempts after the first, from 0 to 100; 5 by default. */
  retries?: number;
  /** The longest Retry-After or outage to wait for; 300,000 by default. */
  retryMaxWaitMs?: number;
  /** Time without progress: 60,000 by default, and 600,000 after the last byte. */
  timeoutMs?: number;
  /** Bytes per second for all files together; unlimited by default. */
  limitRate?: number;
  /** `retry` sends unknown files again, `hold` does not; by default, they are sent if the service honours keys. */
  onUnknown?: 'hold' | 'retry';
  /** What decides the content type: `extension` (the default), `content`, or `strict` for both. */
  types?: TypeRule;
  /** The content type of every file, such as `image/png`. */
  contentType?: string;
  /** The path of a journal; created if it does not exist. */
  journal?: string;
  /** The path of a manifest, such as `media.json`; created if it does not exist. Not with `journal`. */
  manifest?: string;
  /** Checks everything and sends nothing. */
  dryRun?: boolean;
  /** Makes a record that differs from the file a warning (`warn`), or the file `mismatched` (`strict`). */
  verify?: 'warn' | 'strict';
  /** `strip` the location from files, or `warn` of files that contain one; `keep` by default. */
  geotags?: 'keep' | 'warn' | 'strip';
  /** Ends the call when aborted. */
  signal?: AbortSignal;
  /** Receives what happens between results. If a method throws, the call ends. */
  observer?: Partial<TransferObserver>;
  /** The base of relative paths; the working directory by default. */
  cwd?: string;
}

type Inputs = AsyncIterable<UploadInput> | Iterable<UploadInput>;

/**
 * Uploads files, given as paths or sources, and yields each result when it is known; a file that fails is a result, not
 * an exception. Throws a MediaError `usage` for an invalid option, and for inputs that are not iterable. The iteration
 * rejects if the journal cannot be used (`journal_in_use`, `journal_of_other_service`, `journal_unusable`), if the
 * inputs reject or yield something else (`usage`), and with the reason of `signal`. Leaving the iteration early ends
 * the batch: nothing more is sent, and responses to files that were sent completely are awaited for up to 5 s. Files
 * from `filesOf` that turn out not to be media have no result. Handles no signals, prints nothing and changes nothing
 * in the process.
 */
export function uploadAll(inputs: Inputs, options: UploadOptions): AsyncGenerator<UploadResult, void> {
  return uploadOn(inputs, options, systemHost());
}

/** The same as `uploadAll` on a host that may be simulated. */
export function uploadOn(
  inputs: Inputs,
  options: UploadOptions,
  host: Host,
): AsyncGenerator<UploadResult, void> {
  refuseSingle(inputs);
  const stop = new Stop<MediaError>();
  const results = run(inputs, options, {...callInWords(() => checkedOptions(options, host)), stop}, host);
  const [leave, fail] = [results.return.bind(results), results.throw.bind(results)];
  // A generator that waits for the next result would end only then.
  results.return = value => {
    stop.abort(stoppedBy(undefined));
    return leave(value);
  };
  results.throw = error => {
    stop.abort(stoppedBy(error));
    return fail(error);
  };
  return results;
}

function stoppedBy(cause: unknown): MediaError {
  return new MediaError('interrupted', 'The caller stopped the upload.', {cause});
}

type CheckedOptions = Omit<TransferOptions, 'stop' | 'journal' | 'several' | 'observer'> & {
  stop: Stop<MediaError>;
};

/** The results of uploadOn(). The journal is opened, and inputs are read, only once the first result is asked for. */
async function* run(
  inputs: Inputs,
  {signal, cwd, client, journal: journalPath, manifest: manifestPath, observer}: UploadOptions,
  checked: CheckedOptions,
  host: Host,
): AsyncGenerator<UploadResult, void> {
  const {stop} = checked;
  signal?.throwIfAborted();
  /** Aborted with what the iteration rejects with: the reason of the signal, or what the observer threw. */
  const ended = new Stop();
  const end = (reason: unknown) => {
    ended.abort(reason);
    stop.abort(stoppedBy(reason));
  };
  const onAbort = () => end(signal?.reason);
  allowManyListeners(signal);
  signal?.addEventListener('abort', onAbort, {once: true});
  let journal: JournalLookup | undefined;
  try {
    const service = client.baseUrl ?? client.host;
    const identify = client.serviceId && (async () => client.serviceId?.(stop));
    const inDirectory = (path: string) => (cwd === undefined ? path : resolve(cwd, path));
    if (manifestPath !== undefined) {
      const {lookUpInManifest, openManifest} = await import('../engine/manifest/run-manifest.ts');
      const open = checked.dryRun ? lookUpInManifest : openManifest;
      journal = await open(inDirectory(manifestPath), host, {service, identify, stop});
    } else if (journalPath !== undefined) {
      const path = inDirectory(journalPath);
      const scope = {service};
      journal = checked.dryRun
        ? await readLookup(path, host, scope, {identify})
        : await openJournal(path, host, {scope, identify, stop});
    }
    const items = itemsOf(inputs, stop, host.clock);
    const disk = new Disk(host.files, host.clock);
    const outcomes = transferAll(sourcesFrom(items, cwd ?? host.cwd(), disk), {
      ...checked,
      several: !Array.isArray(inputs) || inputs.length > 1,
      observer: completeObserver(observer, end),
      journal,
    });
    for await (const outcome of outcomes)
      if (outcome.status !== 'left out') yield withHints(outcome, error => error.inWordsOf(libraryFace));
    ended.throwIfAborted();
  } catch (error) {
    ended.throwIfAborted();
    if (!stop.aborted || error !== stop.reason) throw inLibraryWords(error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await journal?.close();
  }
}

/** What each option of `uploadAll` may be. */
export const uploadChecks: Checks<UploadOptions> = {
  client: requiredCheck('a MediaClient', value => typeof (value as Uploader | null)?.upload === 'function'),
  concurrency: check.integer(1, 1000, 'auto'),
  retries: check.integer(0, 100),
  retryMaxWaitMs: check.positive,
  timeoutMs: check.positive,
  limitRate: check.positive,
  onUnknown: check.choice('hold', 'retry'),
  types: check.choice('extension', 'content', 'strict'),
  contentType: check.text,
  journal: check.text,
  manifest: check.text,
  dryRun: check.flag,
  verify: check.choice('warn', 'strict'),
  geotags: check.choice('keep', 'warn', 'strip'),
  signal: check.signal,
  observer: check.callbacks,
  cwd: check.text,
};

const observerChecks: Checks<TransferObserver> = {
  started: check.anything,
  progress: check.anything,
  retrying: check.anything,
  unavailable: check.anything,
  finished: check.anything,
  warning: check.anything,
};

/** The engine's options by those of the library, with defaults; throws a MediaError for an invalid one. */
function checkedOptions(options: UploadOptions, host: Host): Omit<CheckedOptions, 'stop'> {
  checkOptions(options, uploadChecks);
  // An observer may have fields of its own.
  const methods = Object.entries(options.observer ?? {}).filter(([, value]) => typeof value === 'function');
  checkOptions(Object.fromEntries(methods), observerChecks);
  if (options.journal !== undefined && options.manifest !== undefined)
    throw new MediaError(
      'usage',
      'A journal and a manifest were given together: each is a memory of its own.',
    );
  const {client, onUnknown = 'declared', types = 'extension', concurrency = 'auto'} = options;
  const contentType = options.contentType === undefined ? undefined : parseContentType(options.contentType);
  return {
    uploader: client,
    host: client.host,
    clock: host.clock,
    random: () => host.random(),
    uuid: () => host.uuid(),
    contentType: async (source, opened) => {
      const {warning, ...decision} = await decideSourceType(source, opened, {types, contentType});
      return {...decision, ...omitUndefined({warning: warning && hintText(warning, libraryFace)})};
    },
    typeRule: contentType ?? types,
    concurrency: concurrency === 'auto' ? transferDefaults.concurrency : concurrency,
    retries: options.retries ?? transferDefaults.retries,
    retryMaxWaitMs: options.retryMaxWaitMs ?? transferDefaults.retryMaxWaitMs,
    timeoutMs: options.timeoutMs,
    limitRate: options.limitRate,
    onUnknown,
    dryRun: options.dryRun === true,
    ...(options.verify && {verify: {mode: options.verify, dimensions: certainSize}}),
    geotags: options.geotags === 'keep' ? undefined : options.geotags,
  };
}

/** An observer with every method. It calls those of `observer` on it, which may be an instance of a class. */
function completeObserver(observer: object = {}, onThrown: (error: unknown) => void): TransferObserver {
  const methods: Partial<Record<keyof TransferObserver, (...facts: unknown[]) => void>> = observer;
  // What a method of the user throws ends the batch.
  const tell = (name: keyof TransferObserver, facts: unknown[]) => {
    try {
      methods[name]?.(...facts.map(inLibraryWords));
    } catch (error) {
      onThrown(error);
    }
  };
  const names = Object.keys(observerChecks) as (keyof TransferObserver)[];
  const all = names.map(name => [name, (...facts: unknown[]) => tell(name, facts)] as const);
  return Object.fromEntries(all) as Required<typeof methods>;
}
