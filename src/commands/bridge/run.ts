import {type ExitStatus, endSignal, type Invocation} from '../../cli/invocation.ts';
import {checkSettings} from '../../cli/session.ts';
import type {GeotagFlag} from '../../cli/values.ts';
import {answersPreflight} from '../../embedded/exchange/cross-origin.ts';
import {defaultPace, type Exchange} from '../../embedded/exchange/exchange.ts';
import {createHttpServer} from '../../embedded/exchange/http-server.ts';
import {Refusal, type Route, routeFor} from '../../embedded/exchange/refusal.ts';
import {respondJson} from '../../embedded/exchange/respond.ts';
import {MediaError} from '../../errors.ts';
import {omitUndefined} from '../../lib/object.ts';
import {Stop} from '../../lib/stop.ts';
import {systemCode, systemReason} from '../../lib/system-code.ts';
import {asMediaError, type Report} from '../../output/report.ts';
import {readClipboard} from '../../sources/clipboard/clipboard.ts';
import {uploadedUrl} from '../upload/upload-files.ts';
import {UploadQueue} from '../upload/upload-queue.ts';
import {comparableUser, desktopOrigin, refuseOtherUsers, refusePages, refuseStrangers} from './caller.ts';
import {isForm, type ReadRules, realRoots, requestFiles} from './request-files.ts';

export interface BridgeOptions {
  port: number;
  root?: string[];
  geotags?: GeotagFlag;
}

/** Uploads for editors until SIGINT, SIGTERM or SIGHUP; prints the URL that they send requests to. */
export async function runBridge(
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
  await checkSettings(invocation);
  const signal = endSignal(invocation);
  const stop = new Stop<MediaError>();
  const queue = new UploadQueue(invocation, {flags: omitUndefined({geotags}), waitsForService: false});
  const rules: ReadRules = {
    ...{roots, temporaryDirectory: host.temporaryDirectory()},
    readClipboard: async () => {
      const content = await readClipboard(host, stop);
      if ('files' in content && content.warning !== undefined) report.warning(content.warning);
      return content;
    },
  };
  try {
    const user = await comparableUser(host);
    const upload = async (exchange: Exchange) => {
      refuseStrangers(exchange.request, secret);
      if (secret === undefined && user !== undefined && !isForm(exchange.request.headers))
        await refuseOtherUsers(exchange.request.socket, user);
      return urlsFor(exchange, rules, queue, report);
    };
    const server = await startServer(port, invocation, [
      [/^\/heartbeat$/, ['GET', 'POST'], async () => 'alive'],
      [/^\/upload$/, ['POST'], upload],
    ]);
    await stdout.write(`${server.url}/upload\n`);
    if (secret === undefined && user === undefined)
      report.warning(
        'Without a secret, any user of this machine can have files of yours uploaded. Set MEDIA_BRIDGE_SECRET, or limit the files with --root.',
      );
    report.note('Uploading for editors. Press Ctrl-C to stop.');
    const endSignal = await signal.received;
    const why = new MediaError('interrupted', `media bridge was stopped by ${endSignal}.`);
    stop.abort(why);
    await Promise.all([server.close(), queue.stop(why)]);
    return endSignal;
  } finally {
    signal.ignore();
  }
}

/** Serves the protocol of PicGo's server on 127.0.0.1; the routes resolve to the result of a request. */
async function startServer(
  wantedPort: number,
  {host: {clock}, report}: Invocation,
  routes: readonly Route<(exchange: Exchange) => Promise<string | string[]>>[],
) {
  let port = wantedPort;
  const server = createHttpServer({
    // A program on this machine may take any time to send a file.
    ...{clock, pace: {...defaultPace, bytesPerSecond: 0}, commonHeaders: {}},
    async handle(exchange) {
      try {
        const {headers} = exchange.request;
        refusePages(headers, port);
        // The browser engine of a desktop program lets its page read a response that says so.
        if (headers.origin === desktopOrigin)
          exchange.commonHeaders = {'Access-Control-Allow-Origin': desktopOrigin, Vary: 'Origin'};
        if (answersPreflight(exchange)) return;
        const {handle} = routeFor(routes, exchange, 'The only paths here are /upload and /heartbeat.');
        respondJson(exchange, 200, {success: true, result: await handle(exchange)});
      } catch (error) {
        const {status, message} = reportRefusal(error, report);
        respondJson(exchange, status, {success: false, message});
      }
    },
    onError: error => reportRefusal(error, report),
  });
  port = await server.listen({host: '127.0.0.1', port}).catch(cause => {
    throw unusablePort(port, cause);
  });
  return {url: `http://127.0.0.1:${port}`, close: server.close};
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
async function urlsFor(
  exchange: Exchange,
  rules: ReadRules,
  queue: UploadQueue,
  report: Report,
): Promise<string[]> {
  const {sources, remove} = await requestFiles(exchange, rules);
  const results = await Promise.allSettled(sources.map(source => queue.add(source))).finally(remove);
  const outcomes = results.map(one => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const urls = outcomes.map((outcome, at) => uploadedUrl(sources[at]?.name ?? '', outcome));
  report.note(resultText(urls, outcomes.filter(({status}) => status === 'skipped').length));
  return urls;
}

/** Reports why a request failed; returns what its sender is told. */
function reportRefusal(error: unknown, report: Report): Refusal {
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
  const failures = urls.length - before;
  return `Uploaded ${failures} ${failures === 1 ? 'file' : 'files'}; ${before} had been uploaded before.`;
}
