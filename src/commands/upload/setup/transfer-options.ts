import type {Invocation} from '../../../cli/invocation.ts';
import {filesIn} from '../../../sources/open/file.ts';
import type {TransferOptions} from '../../../transfer/batch.ts';
import type {UploadFlags} from './flags.ts';
import type {Resources} from './resources.ts';
import {verification} from './verification.ts';

/** What distinguishes one batch from others with the same flags and resources. */
export type OfThisRun = Pick<
  TransferOptions,
  'contentType' | 'observer' | 'several' | 'stop' | 'waitsForNetwork'
>;

/** How a batch transfers files, by the flags and by what the run has opened. */
export function transferOptions(
  flags: UploadFlags,
  {session, journal, memory, idempotencyHonoured}: Resources,
  {host}: Pick<Invocation, 'host'>,
  ofThisRun: OfThisRun,
): TransferOptions {
  const {concurrency, retries, retryMaxWait, timeout, limitRate, onUnknown} = flags;
  return {
    uploader: session?.client ?? {upload: () => Promise.reject(new Error('a dry run sends nothing'))},
    host: session?.hostName ?? '',
    clock: host.clock,
    random: () => host.random(),
    uuid: () => host.uuid(),
    ...ofThisRun,
    typeRule: flags.contentType ?? flags.types,
    concurrency,
    retries,
    retryMaxWaitMs: retryMaxWait,
    timeoutMs: timeout,
    limitRate,
    onUnknown: onUnknown ?? (idempotencyHonoured ? 'honoured' : 'hold'),
    dryRun: flags.dryRun === true,
    sourceNamed: filesIn(host.cwd()),
    ...verification(flags),
    ...{journal, memory},
  };
}
