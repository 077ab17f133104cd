import type {CliCommand} from '../../session/invocation.ts';
import {defaultPort} from '../../session/start-embedded.ts';
import {collect, parseSize, wholeNumber} from '../../session/values.ts';
import {runServe} from './serve-run.ts';

export function serveCommand(serve: CliCommand): void {
  serve
    .description('Run the embedded service on this machine until you stop it.')
    .optionsGroup('Address:')
    .optionWithDefault(
      '--port <n>',
      'the port to listen on; 0 for any free port (MEDIA_SERVE_PORT)',
      String(defaultPort),
      wholeNumber(0, 65_535),
    )
    .optionWithDefault(
      '--host <address>',
      'the address to listen on; any but loopback needs MEDIA_SERVE_KEY (MEDIA_SERVE_HOST)',
      '127.0.0.1',
    )
    .option(
      '--allow-host <name>',
      'also accept requests for this host name (MEDIA_SERVE_ALLOW_HOST)',
      collect,
    )
    .option(
      '--allow-origin <origin>',
      'let web pages of this origin use the service, such as http://localhost:5173 (MEDIA_SERVE_ALLOW_ORIGIN)',
      collect,
    )
    .option('--public-url <url>', 'the beginning of the URLs in records (MEDIA_SERVE_PUBLIC_URL)')
    .optionsGroup('Storage:')
    .optionWithDefault(
      '--data-dir <directory>',
      'where to store uploads (MEDIA_SERVE_DATA_DIR)',
      "the user's data directory",
    )
    .option('--ephemeral', 'use a temporary directory and delete it at the end')
    .exclusive('--ephemeral', '--data-dir')
    .option('--seed <directory>', 'store its images and videos at the start (MEDIA_SERVE_SEED)')
    .option('--max-size <size>', 'refuse a larger file with status 413, such as 20M or 2G', parseSize)
    .option('--quota <size>', 'refuse a file with status 507 if all files would exceed this size', parseSize)
    .optionsGroup('Keys:')
    .option('--keep-key', 'keep the last key and all that were used (the default with --data-dir)')
    .optionsGroup('Faults, to test how clients handle them (see docs/faults.md):')
    .option(
      '--fault <fault>',
      'make requests fail, such as upload:status=503,rate=0.1 (MEDIA_SERVE_FAULT)',
      collect,
    )
    .option(
      '--fault-port <n>',
      'a second port, to change the faults and to reset the state; 0 for any',
      wholeNumber(0, 65_535),
    )
    .optionsGroup('Output:')
    .option('--ndjson', 'log requests as JSON lines')
    .examples(
      [
        'media serve',
        'media serve --port 0 --ephemeral',
        'media serve --data-dir ./uploads',
        'media serve --ephemeral --seed ./fixtures --allow-origin http://localhost:5173',
        "media serve --fault 'upload:status=503,after=store,rate=0.1'",
      ],
      ['--port', '--host', '--data-dir', '--ephemeral', '--max-size', '--quota', '--fault'],
    )
    .runs(runServe);
}
