import {type Cli, CliCommand, type ExitStatus, endSignal, type Invocation} from '../../cli/invocation.ts';
import {collect, type GeotagFlag, geotagsOption, wholeNumber} from '../../cli/values.ts';
import type {Exchange} from '../../embedded/exchange/exchange.ts';
import {Refusal} from '../../embedded/exchange/refusal.ts';
import {MediaError} from '../../errors.ts';
import {defined} from '../../lib/object.ts';
import {Stop} from '../../lib/stop.ts';
import {systemCode, systemReason} from '../../lib/system-code.ts';
import {asMediaError, type Report} from '../../output/report.ts';
import {readClipboard} from '../../sources/clipboard/clipboard.ts';
import {uploadedUrl} from '../upload/upload-files.ts';
import {UploadQueue} from '../upload/upload-queue.ts';
import {comparableUser} from './caller.ts';
import {type ReadRules, realRoots, requestFiles} from './request-files.ts';

/** The port of the PicGo server, which editors use if nothing else is entered. */
const picGoPort = 36_677;

export function bridgeCommand(cli: Cli): CliCommand {
  return new CliCommand('bridge', cli)
    .description('Upload for editors that use a PicGo server, until you stop it.')
    .option('--port <n>', 'the port to listen on; 0 for any free port', wholeNumber(0, 65_535), picGoPort)
    .option('--root <directory>', 'upload only files below this directory', collect)
    .addOption(geotagsOption())
    .examples(['media bridge', 'media bridge --root ~/notes --root ~/Pictures'])
    .runs(runBridge);
}

interface BridgeOptions {
  port: number;
  root?: string[];
  geotags?: GeotagFlag;
}

/** Uploads for editors until SIGINT, SIGTERM or SIGHUP; prints the URL that they send requests to. */
async function runBridge(
  {port, root = [], geotags}: BridgeOptions,
  invocation: Invocation,
): Promise<ExitStatus> {
  const {host, report, stdout} = invocation;
  const secret = (host.env['MEDIA_BRIDGE_SECRET'] || undefined)?.trim();
  if (secret === '')
    throw new MediaError('usage', 'MEDIA_BRIDGE_SECRET is blank.', {
      hint: 'Set it to a secret, or unset it.',
    });
  const roots = await realRoots(root, host.cwd());
  const {checkSettings} = await import('../../cli/session.ts');
  await checkSettings(invocation);
  const signal = endSignal(invocation);
  const stop = new Stop<MediaError>();
  const queue = new UploadQueue(invocation, {flags: defined({geotags}), waitsForService: false});
  const rules: ReadRules = {
    ...{roots, temporaryDirectory: host.temporaryDirectory()},
    readClipboard: async () => {
      const content = await readClipboard(host, stop);
      if ('files' in content && content.dropped !== undefined) report.warning(content.dropped);
      return content;
    },
  };
  try {
    const user = await comparableUser(host);
    const {startBridgeServer} = await import('./server.ts');
    const server = await startBridgeServer({
      ...{port, secret, user, clock: host.clock},
      upload: exchange => upload(exchange, rules, queue, report),
      onFailure: error => reported(error, report),
    }).catch(cause => {
      throw unusablePort(port, cause);
    });
    await stdout.write(`${server.url}/upload\n`);
    if (secret === undefined && user === undefined)
      report.warning(
        'Without a secret, any user of this machine can have files of yours uploaded. Set MEDIA_BRIDGE_SECRET, or limit the files with --root.',
      );
    report.note('Uploading for editors. Press Ctrl-C to stop.');
    const received = await signal.received;
    const why = new MediaError('interrupted', `media bridge was stopped by ${received}.`);
    stop.abort(why);
    await Promise.all([server.close(), queue.stop(why)]);
    return received;
  } finally {
    signal.ignore();
  }
}

/** The error for a port that the system does not let us listen on; any other error is a bug. */
function unusablePort(port: number, cause: unknown): unknown {
  const code = systemCode(cause);
  if (code === undefined) return cause;
  const isTaken = code === 'EADDRINUSE';
  const why = isTaken
    ? 'is in use, perhaps by PicGo or by another media bridge'
    : `cannot be used: ${systemReason(cause)}`;
  const hint = 'Choose another with --port, and enter it in the editor.';
  return new MediaError('local_failure', `Port ${port} ${why}.`, {hint, cause});
}

/** Uploads the files of a request, all or none; resolves to their URLs in its order. */
async function upload(
  exchange: Exchange,
  rules: ReadRules,
  queue: UploadQueue,
  report: Report,
): Promise<string[]> {
  const {sources, remove} = await requestFiles(exchange, rules);
  const settled = await Promise.allSettled(sources.map(source => queue.add(source))).finally(remove);
  const outcomes = settled.map(one => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const urls = outcomes.map((outcome, at) => uploadedUrl(sources[at]?.name ?? '', outcome));
  report.note(resultText(urls, outcomes.filter(({status}) => status === 'skipped').length));
  return urls;
}

/** Reports why a request failed; returns what its sender is told. */
function reported(error: unknown, report: Report): Refusal {
  if (error instanceof Refusal) {
    report.warning(`Refused a request: ${error.message}`);
    return error;
  }
  const failure = asMediaError(error);
  report.failure(failure);
  const {messageToKeep: message, hint} = failure;
  return new Refusal(500, hint === undefined ? message : `${message} ${hint}`);
}

/** What was done for a request; `before` is how many of its files an earlier upload had stored. */
function resultText(urls: readonly string[], before: number): string {
  const isOne = urls.length === 1;
  if (before === 0) return isOne ? `Uploaded ${urls[0]}` : `Uploaded ${urls.length} files.`;
  if (isOne) return `Uploaded before: ${urls[0]}`;
  const sent = urls.length - before;
  return `Uploaded ${sent} ${sent === 1 ? 'file' : 'files'}; ${before} had been uploaded before.`;
}
