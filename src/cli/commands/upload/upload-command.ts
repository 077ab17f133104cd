import {Option} from 'commander';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {formatHelp, formatNames} from '../../output/results/formats.ts';
import type {OutputFormat} from '../../output/results/results.ts';
import type {CliCommand, Invocation} from '../../session/invocation.ts';
import {
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

export function uploadCommand(upload: CliCommand): void {
  upload
    .description('Upload images and videos and print their records.')
    .argument('[input...]', 'files, directories (-r), patterns, standard input (-)')
    .optionsGroup('Inputs:')
    .option('-r, --recursive', 'upload directories, with their subdirectories')
    .addOptions(selectionOptions())
    .option('--clipboard', 'upload the picture or the files in the clipboard')
    .option('--name <file>', 'the file name of standard input or the clipboard')
    .option('--shard <k/n>', 'upload only part k of n; auto asks the CI system')
    .addOption(typesOption())
    .option('--content-type <type>', 'send every file as this image/* or video/* type')
    .addOption(geotagsOption())
    .optionsGroup('Output:')
    .addOption(new Option('--format <format>', formatHelp).choices(formatNames).default(undefined, 'table'))
    .option('--json', "print the service's record of each file")
    .option('--ndjson', 'print a line of JSON per input, failures included')
    .option('--template <text>', 'print this text per file, such as "{file}\\t{url}\\n"')
    .option('--ci', 'in GitHub Actions, write annotations and a summary')
    .exclusive('--format', '--json', '--ndjson', '--template')
    .optionsGroup('Transfer:')
    .option('--dry-run', 'check everything, send nothing')
    .addOption(concurrencyOption())
    .option('--retries <n>', 'how often to retry a file', wholeNumber(0, 100), uploadDefaults.retries)
    .optionWithDefault('--retry-max-wait <time>', 'the longest outage to wait for', '5m', parseDuration)
    .optionWithDefault('--limit-rate <rate>', 'bytes per second, such as 500K or 2M', 'none', parseRate)
    .optionWithDefault('--deadline <time>', 'end the run after a time such as 10m', 'none', parseDuration)
    .optionWithDefault('--timeout <time>', 'time to wait for progress', '1m, response 10m', parseDuration)
    .addOption(
      new Option('--on-unknown <action>', 'what to do if a file may be stored')
        .choices(['hold', 'retry'])
        .default(undefined, 'retry where the service honours Idempotency-Key, else hold'),
    )
    .addOption(
      new Option('--verify <rule>', 'compare records with files')
        .choices(['warn', 'strict'])
        .default(undefined, 'only a different size is a warning'),
    )
    .optionsGroup('Memory:')
    .option('--once', 'skip what this machine has already uploaded')
    .option('--manifest <file>', 'skip what this file lists, add what is uploaded')
    .option('--check', 'send nothing; fail if the manifest is out of date')
    .option('--prune', 'remove deleted files from the manifest')
    .option('--journal <file>', 'record uploads in this file, to continue later')
    .option('--no-once', 'ignore the once setting of the profile')
    .examples(
      [
        'media upload photo.png',
        'media upload -r ./assets --manifest media.json',
        'media upload *.jpg --format url',
        "media upload -r ./assets --exclude '*.psd' --ndjson | jq -r .url",
        'curl -s https://example.com/cat.png | media upload - --name cat.png',
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

/** The format that --json, --ndjson, --template or --format asks for; a usage error if the template is wrong. */
async function chosenFormat(options: Omit<UploadFlags, 'inputs'>, {host}: Invocation): Promise<OutputFormat> {
  if (options.json) return 'json';
  if (options.ndjson) return 'ndjson';
  if (options.template === undefined) return options.format ?? 'table';
  const {parseTemplate} = await import('../../output/results/template.ts');
  const cwd = host.cwd();
  return {template: parseTemplate(options.template), pathOf: name => resolveUserPath(cwd, name)};
}
