import {mkdtemp, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {Command, Option} from 'commander';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from '../cli/invocation.ts';
import {namePages} from '../cli/name-pages.ts';
import {defaultPort, describeServiceError, startEmbedded} from '../cli/start-embedded.ts';
import {wholeNumber} from '../cli/values.ts';
import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';
import {MediaError} from '../errors.ts';
import type {EndSignal, Host} from '../host.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {asMediaError} from '../output/report.ts';

export interface ServeOptions {
  port: number;
  dataDir?: string;
  ephemeral?: boolean;
}

/** Declares `media serve`. */
export function serveCommand(cli: Cli, run = runServe): Command {
  return new Command('serve')
    .description('Run the embedded service on this machine until you stop it (Ctrl-C).')
    .option('--port <n>', 'the port to listen on; 0 for any free port', wholeNumber(0, 65_535), defaultPort)
    .addOption(
      new Option('--data-dir <directory>', 'where to store uploads').default(
        undefined,
        "the user's data directory",
      ),
    )
    .option('--ephemeral', 'use a temporary directory and delete it at the end')
    .addHelpText(
      'after',
      examples(['media serve', 'media serve --port 0 --ephemeral', 'media serve --data-dir ./uploads']),
    )
    .action(async (options: ServeOptions, command: Command) => {
      cli.status = await run(options, invocationOf(cli, command));
    });
}

const keyLabel = 'serve';

/** Serves until SIGINT, SIGTERM or SIGHUP; prints the URL and a new key, and revokes the earlier one. */
export async function runServe(options: ServeOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, report} = invocation;
  if (options.ephemeral && options.dataDir !== undefined) {
    throw new MediaError('usage', '--ephemeral and --data-dir cannot be used together.', {
      hint: 'Choose one.',
    });
  }
  const ended = waitForSignal(host);
  const directory = await dataDirectoryFor(options, host);
  try {
    const {service, key} = await start(options.port, directory, invocation);
    try {
      await stdout.write(`MEDIA_BASE_URL=${service.url}\nMEDIA_API_KEY=${key}\n`);
      report.note(`Serving ${service.url} from ${directory}. Press Ctrl-C to stop.`);
      const stopLinks = offerLinks(service, invocation);
      try {
        if (!options.ephemeral) await namePages(service.url, invocation);
        return await ended;
      } finally {
        stopLinks();
      }
    } finally {
      await service.close();
    }
  } finally {
    if (options.ephemeral) await rm(directory, {recursive: true, force: true});
  }
}

/** Prints a link to the pages, and another at each SIGUSR2 until the returned function is called. */
function offerLinks(service: EmbeddedService, {host, report}: Invocation): () => void {
  const offer = () => {
    const another = host.platform === 'win32' ? '' : `; for another: kill -USR2 ${host.processId()}`;
    const link = `${service.signInUrl()} (this link works once${another})`;
    report.note(`To manage API keys and see uploads, open ${link}.`);
  };
  const stop = host.onStatusSignal(offer);
  offer();
  return stop;
}

function waitForSignal(host: Host): Promise<EndSignal> {
  return new Promise(resolveSignal => {
    const stop = host.onEndSignal(signal => {
      stop();
      resolveSignal(signal);
    });
  });
}

async function dataDirectoryFor(options: ServeOptions, host: Host): Promise<string> {
  if (options.ephemeral) return mkdtemp(join(host.temporaryDirectory(), 'media-serve-'));
  if (options.dataDir !== undefined) return typedPath(host.cwd(), options.dataDir);
  const {dataDirectory} = await import('../settings/paths.ts');
  return dataDirectory(host);
}

/** Starts the service with a new key, and revokes the key of an earlier start. */
function start(port: number, dataDirectory: string, {host, report}: Invocation) {
  const options: ServiceOptions = {
    port,
    dataDirectory,
    thumbnails: true,
    clock: host.clock,
    onRequest: ({method, path, status, bytes, elapsedMs}) =>
      report.note(`${method} ${path} ${status} ${bytes} B ${Math.round(elapsedMs)} ms`),
    onError: error => report.failure(asMediaError(describeServiceError(error, options))),
  };
  return startEmbedded(options, {label: keyLabel, persist: true});
}
