import {Command, Option} from 'commander';
import {examples} from '../../cli/help-format.ts';
import {type Cli, invocationOf} from '../../cli/invocation.ts';
import {defaultPort} from '../../cli/start-embedded.ts';
import {collect, parseSize, wholeNumber} from '../../cli/values.ts';
import {runServe} from './run.ts';
import type {ServeOptions} from './settings.ts';

/** Declares `media serve`. */
export function serveCommand(cli: Cli): Command {
  return new Command('serve')
    .description('Run the embedded service on this machine until you stop it.')
    .addOption(
      new Option('--port <n>', 'the port to listen on; 0 for any free port (MEDIA_SERVE_PORT)')
        .argParser(wholeNumber(0, 65_535))
        .default(undefined, String(defaultPort)),
    )
    .option(
      '--host <address>',
      'the address to listen on; any but loopback needs MEDIA_SERVE_KEY (MEDIA_SERVE_HOST; default: 127.0.0.1)',
    )
    .option(
      '--allow-host <name>',
      'answer requests for this host name, too (MEDIA_SERVE_ALLOW_HOST; repeatable)',
      collect,
    )
    .option('--public-url <url>', 'the beginning of the URLs in records (MEDIA_SERVE_PUBLIC_URL)')
    .addOption(
      new Option('--data-dir <directory>', 'where to store uploads (MEDIA_SERVE_DATA_DIR)').default(
        undefined,
        "the user's data directory",
      ),
    )
    .option('--ephemeral', 'use a temporary directory and delete it at the end')
    .option('--keep-key', 'let the keys of earlier starts work on (the default with --data-dir)')
    .option('--no-keep-key', 'revoke the keys of earlier starts (the default without --data-dir)')
    .option('--max-size <size>', 'refuse larger files (413), such as 20M or 2G', parseSize)
    .option('--quota <size>', 'refuse files when all together would be larger (507)', parseSize)
    .option('--fault <fault>', 'fail on purpose, for tests: docs/faults.md (repeatable)', collect)
    .option('--fault-seed <n>', 'choose other requests for faults with a rate', wholeNumber(0, 2 ** 31 - 1))
    .option('--fault-port <n>', 'listen here for changes of the faults; 0 for any', wholeNumber(0, 65_535))
    .option('--ndjson', 'log requests as JSON lines')
    .addHelpText(
      'after',
      examples(
        [
          'media serve',
          'media serve --port 0 --ephemeral',
          'media serve --data-dir ./uploads',
          "media serve --fault 'upload:status=503,after=store,rate=0.1'",
        ],
        [
          '--port',
          '--host',
          '--public-url',
          '--data-dir',
          '--ephemeral',
          '--max-size',
          '--quota',
          '--fault',
          '--ndjson',
        ],
      ),
    )
    .action(async (options: ServeOptions, command: Command) => {
      cli.status = await runServe(options, invocationOf(cli, command));
    });
}
