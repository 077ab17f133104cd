import type {JournalLookup} from '../../../engine/journal/journal.ts';
import type {TransferOptions} from '../../../engine/transfer/batch.ts';
import {transferDefaults} from '../../../engine/transfer/transfer-options.ts';
import {MediaError, unlessBug} from '../../../errors.ts';
import type {Stop} from '../../../lib/stop.ts';
import {certainSize} from '../../../media/pixels/probe.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {Session} from '../../session/session.ts';
import {type Speed, speedSettings} from '../../settings/profile.ts';
import type {Settings} from '../../settings/settings.ts';
import type {UploadFlags} from './flags.ts';
import type {Inputs} from './open-inputs.ts';
import {openRunJournal, readDryRunMemory} from './run-memory.ts';

/** What a run keeps open. A dry run has no session, and its journal is only read. */
export interface Resources {
  session?: Session | undefined;
  journal?: JournalLookup | undefined;
  /** What is done with an upload of unknown outcome, as the variable and the profile set it. */
  onUnknown?: Settings['onUnknown'] | undefined;
  /** How fast files are sent, as the variables and the profile set it. */
  speed?: Speed | undefined;
}

/** Opens the service and the journal that the options ask for; if one fails, the other is closed again. */
export async function openResources(
  options: UploadFlags,
  invocation: Invocation,
  shard: Inputs['shard'],
  stop: Stop<MediaError>,
): Promise<Resources> {
  if (options.dryRun) return readDryRunMemory(options, invocation, {shard, stop});
  const {openSession} = await import('../../session/session.ts');
  const sessionOrError = await openSession(invocation, stop).catch((error: MediaError) => {
    // A run with a manifest needs a key only if it sends something.
    if (options.manifest === undefined || !['no_key', 'key_unavailable'].includes(error.code)) throw error;
    return error;
  });
  const session = sessionOrError instanceof MediaError ? undefined : sessionOrError;
  try {
    const speed = session && (await speedSettings(session.settings));
    const journal = await openRunJournal(options, invocation, {session: sessionOrError, shard, stop});
    return {session, journal, speed, onUnknown: session?.settings.onUnknown};
  } catch (error) {
    await session?.close();
    throw error;
  }
}

/** Closes all of them; resolves to the error that kept the last lines of the journal from being written, if any. */
export async function closeResources({session, journal}: Resources): Promise<MediaError | undefined> {
  await session?.close();
  return journal?.close().then(() => undefined, unlessBug);
}

/** What distinguishes one batch from others with the same flags and resources. */
type BatchOptions = Pick<
  TransferOptions,
  'contentType' | 'observer' | 'several' | 'stop' | 'waitsForNetwork'
>;

/** The options of a batch: from the flags, else from the settings in `resources`, else the defaults. */
export function transferOptions(
  flags: Omit<UploadFlags, 'inputs'>,
  {session, journal, speed, onUnknown = 'declared'}: Resources,
  {host}: Pick<Invocation, 'host'>,
  batchOptions: BatchOptions,
): TransferOptions {
  const limitRate = flags.limitRate ?? speed?.limitRate;
  return {
    // Without a session, nothing is sent: in a dry run, or where a manifest knows all inputs.
    uploader: session?.client ?? {upload: () => Promise.reject(new Error('a dry run sends nothing'))},
    host: session?.hostName ?? '',
    clock: host.clock,
    random: () => host.random(),
    uuid: () => host.uuid(),
    ...batchOptions,
    typeRule: flags.contentType ?? flags.types,
    concurrency: flags.concurrency ?? speed?.concurrency ?? transferDefaults.concurrency,
    retries: flags.retries,
    retryMaxWaitMs: flags.retryMaxWait ?? speed?.retryMaxWait ?? transferDefaults.retryMaxWaitMs,
    timeoutMs: flags.timeout,
    limitRate: limitRate === Number.POSITIVE_INFINITY ? undefined : limitRate,
    onUnknown: flags.onUnknown ?? onUnknown,
    dryRun: flags.dryRun === true,
    ...(flags.verify && {verify: {mode: flags.verify, dimensions: certainSize}}),
    geotags: flags.geotags === 'keep' ? undefined : flags.geotags,
    journal,
  };
}
