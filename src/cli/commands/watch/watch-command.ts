import {Option} from 'commander';
import {MediaError} from '../../../errors.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {Stop} from '../../../lib/stop.ts';
import {parseTemplate} from '../../output/results/template.ts';
import {type CliCommand, endSignal, type Invocation} from '../../session/invocation.ts';
import {geotagsOption, parseDuration} from '../../session/values.ts';
import type {QueueOptions} from '../upload/upload-queue.ts';
import {
  DirectoryWatch,
  targetPlace,
  type WatchedPlace,
  watchedPlaces,
  watchTrouble,
} from './directory-watch.ts';
import {type Disposal, Disposals} from './disposal/disposal.ts';
import {type WatchPrinter, watchPrinter} from './event-printer.ts';
import {Feed} from './feed.ts';
import {hasCompanion, watchedState} from './settler.ts';
import {Uploads} from './uploads.ts';

/** How long a file must stay as it is before it is uploaded, in milliseconds. */
const defaultSettleMs = 2_000;

export function watchCommand(watch: CliCommand): void {
  watch
    .description('Upload the images and videos in directories as they appear.')
    .argument('<directory...>', 'directories, watched with all their subdirectories')
    .addOption(
      new Option('--settle <duration>', 'upload a file that has not changed for this long')
        .argParser(parseDuration)
        .default(defaultSettleMs, '2s'),
    )
    .option('--move-to <directory>', 'move each file there once its record is confirmed')
    .option('--delete', 'delete each file once its record is confirmed')
    .exclusive('--move-to', '--delete')
    .addOption(
      new Option(
        '--verify <rule>',
        'compare each record with its file; a file whose record differs is never moved or deleted',
      )
        .choices(['warn', 'strict'])
        .default(undefined, 'only a different size is a warning'),
    )
    .addOption(geotagsOption())
    .option('--poll', 'check every file each second, for network file systems')
    .option('--ndjson', 'print one JSON line per file and per event')
    .optionWithDefault('--template <text>', 'print this text for each uploaded file', '"{file}\\t{url}\\n"')
    .exclusive('--ndjson', '--template')
    .examples([
      'media watch ~/Screenshots',
      'media watch /srv/scans --move-to /srv/scans/uploaded',
      "media watch ~/Screenshots --template '{url}\\n'",
    ])
    .runs(runWatch);
}

interface WatchFlags extends Pick<QueueOptions['flags'], 'verify' | 'geotags' | 'ndjson' | 'template'> {
  /** Milliseconds. */
  settle: number;
  moveTo?: string;
  delete?: boolean;
  poll?: boolean;
}

/** Uploads what is in the directories and what comes, until SIGINT, SIGTERM or SIGHUP. */
async function runWatch(flags: WatchFlags, invocation: Invocation, directories: string[]) {
  const {host, stdout} = invocation;
  if (flags.delete && flags.geotags === 'strip')
    throw new MediaError('usage', '--delete and --geotags strip were given together.', {
      hint: 'The file is the only copy with its location. To keep it elsewhere: --move-to DIRECTORY',
    });
  const template = flags.ndjson ? undefined : parseTemplate(flags.template ?? '{file}\\t{url}\\n');
  const printer = watchPrinter(invocation, template);
  const places = await watchedPlaces(directories, host);
  let disposal: Disposal = flags.delete ? 'delete' : 'keep';
  if (flags.moveTo !== undefined) disposal = {moveTo: await targetPlace(flags.moveTo, host, places)};
  const {checkSettings} = await import('../../session/session.ts');
  await checkSettings(invocation);
  const signal = endSignal(invocation);
  const stop = new Stop<MediaError>();
  const {clock, files} = host;
  const settleMs = flags.settle;
  const disposals = new Disposals(disposal, {host, stdout, settleMs, stop});
  // A record is compared with its file before the file goes.
  const verify = flags.verify ?? (disposals.areWanted ? 'warn' : undefined);
  const uploadFlags = omitUndefined({verify, geotags: flags.geotags});
  const uploads = new Uploads(invocation, places, printer, {disposals, flags: uploadFlags});
  const look = (path: string) => watchedState(path, files);
  const isUnfinished = (path: string) => hasCompanion(path, files);
  const feed = new Feed({clock, settleMs, look, isUnfinished}, uploads);
  uploads.waiting = () => feed.waiting;
  const watching = watchAll(places, disposal, {flags, feed, printer}, invocation);
  try {
    return await Promise.race([signal.received, watching.failed]);
  } finally {
    stdout.hurry(clock);
    // First no new files, then the end of those that were taken.
    feed.close();
    await watching.close();
    const why = new MediaError('interrupted', 'media watch was stopped.');
    stop.abort(why);
    await uploads.stop(why);
    await feed.waitForEnd();
    signal.ignore();
  }
}

/** Watches all directories; `failed` rejects if the system cannot watch them, or standard output has ended. */
function watchAll(
  places: readonly WatchedPlace[],
  disposal: Disposal,
  {flags, feed, printer}: {flags: WatchFlags; feed: Feed; printer: WatchPrinter},
  {host, report, stdout}: Invocation,
): {failed: Promise<never>; close: () => Promise<void>} {
  let fail: (error: MediaError) => void;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // The uploads go on, as they do without a reader, but nothing goes away unseen.
  void stdout.ended.then(reason => {
    if (disposal !== 'keep') return fail(reason);
    if (stdout.failure !== undefined) report.failure(reason);
    stdout.isReported = true;
  });
  const watches = places.map(
    ({displayPath, path}) =>
      new DirectoryWatch(path, {
        clock: host.clock,
        files: host.files,
        poll: flags.poll === true,
        except: typeof disposal === 'object' ? disposal.moveTo : undefined,
        onFile: file => feed.touch(file),
        onFileGone: file => feed.forget(file),
        onState: event => void printer.event({event, directory: displayPath}),
        onError(error) {
          const trouble = watchTrouble(error, displayPath);
          if (trouble.isFatal) fail(trouble.error);
          else report.failure(trouble.error);
        },
      }),
  );
  for (const watch of watches) void watch.run();
  return {failed, close: async () => void (await Promise.all(watches.map(watch => watch.close())))};
}
