import {Option} from 'commander';
import {CliCommand} from '../../cli/command.ts';
import type {Cli} from '../../cli/invocation.ts';
import {parseDuration} from '../../cli/values.ts';
import {runWatch} from './run.ts';

/** How long a file must stay as it is before it is uploaded, in milliseconds. */
const defaultSettleMs = 2_000;

export function watchCommand(cli: Cli): CliCommand {
  return new CliCommand('watch', cli)
    .description('Upload the images and videos in directories as they appear.')
    .argument('<directory...>', 'directories, watched with all their subdirectories')
    .addOption(
      new Option('--settle <duration>', 'upload a file that has not changed for this long')
        .argParser(parseDuration)
        .default(defaultSettleMs, '2s'),
    )
    .option('--move-to <directory>', 'move each file there once its record is confirmed')
    .option('--delete', 'delete each file once its record is confirmed')
    .addOption(
      new Option(
        '--verify <rule>',
        'compare each record with its file; a file whose record differs is never moved or deleted',
      )
        .choices(['warn', 'strict'])
        .default(undefined, 'only a different size is a warning'),
    )
    .option('--poll', 'check every file each second, for network file systems')
    .option('--ndjson', 'print one JSON line per file and per event')
    .addOption(
      new Option('--template <text>', 'print this text for each uploaded file').default(
        undefined,
        '"{file}\\t{url}\\n"',
      ),
    )
    .examples([
      'media watch ~/Screenshots',
      'media watch /srv/scans --move-to /srv/scans/uploaded',
      "media watch ~/Screenshots --template '{url}\\n'",
    ])
    .runs(runWatch);
}
