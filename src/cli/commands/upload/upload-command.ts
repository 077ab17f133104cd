import {Option} from 'commander';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {formatNames} from '../../output/results/formats.ts';
import type {OutputFormat} from '../../output/results/results.ts';
import {type Cli, CliCommand, type Invocation} from '../../session/invocation.ts';
import {
  ciOption,
  concurrencyOption,
  geotagsOption,
  parseDuration,
  parseRate,
  selectionOptions,
  typesOption,
  wholeNumber,
} from '../../session/values.ts';
import {type UploadFlags, uploadDefaults} from './flags.ts';

/** The options that most people need: those that brief help shows. */
const commonOptions = [
  ...['--recursive', '--exclude', '--clipboard', '--format', '--json', '--ndjson', '--template'],
  ...['--dry-run', '--once', '--manifest'],
];

export function uploadCommand(cli: Cli): CliCommand {
  return new CliCommand('upload', cli)
    .description('Upload images and videos and print their records.')
    .argument('[input...]', 'files, directories (with -r), patterns, or - for standard input')
    .optionsGroup('Inputs:')
    .option('-r, --recursive', 'upload directories with all their subdirectories')
    .addOptions(selectionOptions())
    .option('--clipboard', 'upload the picture or the files in the clipboard')
    .option('--name <file>', 'the file name to use for standard input or the picture in the clipboard')
    .optionsGroup('Content type:')
    .addOption(typesOption())
    .option('--content-type <type>', 'send every file as this type, image/* or video/*')
    .optionsGroup('Privacy:')
    .addOption(geotagsOption())
    .optionsGroup('Output:')
    .addOption(
      new Option('--format <format>', 'how to print the records')
        .choices(formatNames)
        .default(undefined, 'table'),
    )
    .option('--json', "print the service's record of each file, one per line")
    .option('--ndjson', 'print one JSON line per input, including failures')
    .option('--template <text>', 'print this text for each uploaded file, such as "{file}\\t{url}\\n"')
    .exclusive('--format', '--json', '--ndjson', '--template')
    .optionsGroup('Transfer:')
    .option('--dry-run', 'check everything without sending anything')
    .addOption(concurrencyOption())
    .option('--retries <n>', 'how often to retry a file', wholeNumber(0, 100), uploadDefaults.retries)
    .addOption(
      new Option('--retry-max-wait <duration>', 'the longest Retry-After or outage to wait for')
        .argParser(parseDuration)
        .default(undefined, '5m'),
    )
    .addOption(
      new Option('--limit-rate <rate>', 'bytes per second for all files together, such as 500K or 2M')
        .argParser(parseRate)
        .default(undefined, 'none'),
    )
    .addOption(
      new Option('--deadline <duration>', 'stop the whole run after this time, such as 30s, 10m or 2h')
        .argParser(parseDuration)
        .default(undefined, 'none'),
    )
    .addOption(
      new Option(
        '--timeout <duration>',
        'how long to wait for progress, and for a response after the last byte',
      )
        .argParser(parseDuration)
        .default(undefined, '1m, and 10m for the response'),
    )
    .addOption(
      new Option('--on-unknown <action>', 'what to do when a file may or may not have been stored')
        .choices(['hold', 'retry'])
        .default(undefined, 'retry where the service honours Idempotency-Key, else hold'),
    )
    .addOption(
      new Option('--verify <rule>', 'compare size, type, width and height in the record with the file')
        .choices(['warn', 'strict'])
        .default(undefined, 'only a different size is a warning'),
    )
    .optionsGroup('Memory:')
    .option('--once', 'skip what this machine has already uploaded')
    .option('--manifest <file>', 'skip what this file of the repository records, and add what is uploaded')
    .option('--check', 'send nothing; fail if the manifest lacks a file as it is now')
    .option('--prune', 'remove files that are gone from the manifest')
    .option('--journal <file>', 'record what was uploaded, and continue there next time')
    .option('--no-once', 'ignore the once setting of the profile')
    .optionsGroup('CI:')
    .option('--shard <k/n>', 'upload only part k of n of the inputs; auto asks the CI or batch system')
    .addOption(ciOption())
    .examples(
      [
        'media upload photo.png',
        'media upload -r ./assets --manifest media.json',
        'media upload -r ./assets --journal assets.journal',
        'media upload photo.png --json | jq -r .fileUrl',
        'media upload *.jpg --format url',
        "media upload *.jpg --template '{file}\\t{url}\\n'",
        "media upload -r ./assets --exclude '*.psd' --ndjson > uploads.ndjson",
        'media upload -r ./assets --shard 2/8 --journal part-2.journal',
        'curl -s https://example.com/cat.png | media upload - --name cat.png',
        'media upload IMG_1234.jpg --geotags strip',
        'media upload --clipboard --format markdown',
        'media upload photo.png --base-url embedded',
      ],
      commonOptions,
    )
    .runs(async (options: Omit<UploadFlags, 'inputs'>, invocation, inputs: string[]) => {
      const format = await chosenFormat(options, invocation);
      const {startRun} = await import('./upload-files.ts');
      const flags = options.check ? {...options, dryRun: true} : options;
      return startRun({...flags, inputs}, invocation, {format});
    });
}

async function chosenFormat(options: Omit<UploadFlags, 'inputs'>, {host}: Invocation): Promise<OutputFormat> {
  if (options.json) return 'json';
  if (options.ndjson) return 'ndjson';
  if (options.template === undefined) return options.format ?? 'table';
  const {parseTemplate} = await import('../../output/results/template.ts');
  const cwd = host.cwd();
  return {template: parseTemplate(options.template), pathOf: name => resolveUserPath(cwd, name)};
}
