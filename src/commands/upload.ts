import {Command, Option} from 'commander';
import {exitStatusOf, MediaError} from '../errors.ts';
import {type FormatName, formatNames} from '../output/formats.ts';
import type {TypeRule} from '../sources/content-type.ts';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from './cli.ts';
import type {AfterAction} from './upload-after.ts';
import {collect, parseDuration, parseRate, wholeNumber} from './values.ts';

export interface UploadOptions {
  inputs: string[];
  contentType?: string;
  types: TypeRule;
  name?: string;
  format?: FormatName;
  json?: boolean;
  ndjson?: boolean;
  recursive?: boolean;
  follow?: boolean;
  filesFrom?: string[];
  filesFrom0?: string[];
  include?: string[];
  exclude?: string[];
  shard?: string;
  concurrency: number;
  retries: number;
  stallTimeout: number;
  answerTimeout: number;
  deadline?: number;
  limitRate?: number;
  onUnknown: 'hold' | 'retry';
  journal?: string;
  failFast?: boolean;
  dryRun?: boolean;
  allowEmpty?: boolean;
  ci?: 'github' | 'auto';
  open?: boolean;
  copy?: boolean;
  qr?: boolean;
}

/** Declares `media upload`. */
export function uploadCommand(cli: Cli, run = runUpload): Command {
  return new Command('upload')
    .description('Upload images and videos and print their records.')
    .argument('[input...]', 'files, directories with -r, patterns, or - for standard input')
    .option('-r, --recursive', 'take directories with all that is in them')
    .option('--follow', 'follow links to directories')
    .option('--include <pattern>', 'of directories, patterns and lists, take only what matches', collect)
    .option('--exclude <pattern>', 'of directories, patterns and lists, leave out what matches', collect)
    .option('--files-from <file>', 'read names from a file, one a line; - for standard input', collect)
    .option('--files-from0 <file>', 'the same, each name ended by a zero byte', collect)
    .option('--shard <k/n>', 'take only the k-th of n parts of the inputs; auto asks the batch system')
    .option('--content-type <type>', 'send this type, image/* or video/*, whatever the file says')
    .addOption(
      new Option('--types <rule>', 'what decides the content type')
        .choices(['extension', 'content', 'strict'])
        .default('extension'),
    )
    .option('--name <file>', 'the name of what comes on standard input')
    .addOption(new Option('--format <format>', 'how to print the records').choices(formatNames))
    .option('--json', 'print each record as the service returned it, one line each')
    .option('--ndjson', 'print one JSON line an input, failures included')
    .option('-c, --concurrency <n>', 'files to send at a time', wholeNumber(1, 1000), 8)
    .option('--limit-rate <rate>', 'bytes a second for all files together, as in 500K or 2M', parseRate)
    .option('--retries <n>', 'tries after the first', wholeNumber(0, 100), 5)
    .addOption(
      new Option('--stall-timeout <duration>', 'give up an attempt that sends nothing for so long')
        .argParser(parseDuration)
        .default(60_000, '1m'),
    )
    .addOption(
      new Option('--answer-timeout <duration>', 'how long the service may take to answer')
        .argParser(parseDuration)
        .default(600_000, '10m'),
    )
    .option('--deadline <duration>', 'end the whole run after this time', parseDuration)
    .addOption(
      new Option('--on-unknown <action>', 'what to do when nobody knows whether a file was stored')
        .choices(['hold', 'retry'])
        .default('hold'),
    )
    .option('--journal <file>', 'remember what was sent, and go on from there the next time')
    .option('--fail-fast', 'stop at the first failure')
    .option('--dry-run', 'check everything, send nothing')
    .option('--allow-empty', 'no input is no error')
    .option('--open', 'open the address of what was uploaded in the browser')
    .option('--copy', "put the address into the terminal's clipboard")
    .option('--qr', 'show the address as a QR code')
    .addOption(
      new Option(
        '--ci <system>',
        'annotations, outputs and a summary for a CI system; auto looks which it is',
      ).choices(['github', 'auto']),
    )
    .addHelpText(
      'after',
      examples([
        'media upload photo.png',
        'media upload *.jpg --format url',
        "media upload -r ./assets --exclude '*.psd' --ndjson > uploads.ndjson",
        'media upload -r ./assets --journal uploads.ndjson',
        'media upload -r ./assets --shard 2/8 --journal uploads-2.ndjson',
        'media upload photo.png --json | jq -r .id',
        'curl -s https://example.com/cat.png | media upload - --name cat.png',
        'media upload photo.png --copy --qr',
        'media upload photo.png --base-url embedded',
      ]),
    )
    .action(async (inputs: string[], options: Omit<UploadOptions, 'inputs'>, command: Command) => {
      cli.status = await run({...options, inputs}, invocationOf(cli, command));
    });
}

/** Uploads the inputs, prints what became of them, and returns the exit status. */
export async function runUpload(options: UploadOptions, invocation: Invocation): Promise<ExitStatus> {
  const format = chosenFormat(options);
  const {typeDecision} = await import('./upload-inputs.ts');
  const decideType = await typeDecision(options);
  const {UploadRun} = await import('./upload-run.ts');
  const {afterActions} = await import('./upload-after.ts');
  const after = await afterActions(options, invocation);
  try {
    const status = await new UploadRun(options, invocation, format, after).execute(decideType);
    return await finish(after, status, invocation);
  } catch (error) {
    const {asMediaError} = await import('../output/report.ts');
    for (const action of after) action.failed(asMediaError(error));
    await finish(after, 1, invocation);
    throw error;
  }
}

/** Does what comes after; a success that could not be told to the CI system is none. */
async function finish(
  after: readonly AfterAction[],
  status: ExitStatus,
  {report}: Invocation,
): Promise<ExitStatus> {
  let result = status;
  for (const action of after) {
    const failure = await action.end();
    if (failure === undefined) continue;
    report.failure(failure);
    if (result === 0) result = exitStatusOf[failure.code];
  }
  return result;
}

function chosenFormat(options: UploadOptions): FormatName {
  const chosen = new Set<FormatName>();
  if (options.json) chosen.add('json');
  if (options.ndjson) chosen.add('ndjson');
  if (options.format !== undefined) chosen.add(options.format);
  const [format, ...others] = chosen;
  if (others.length > 0) {
    throw new MediaError('usage', `Two output formats at once: ${[...chosen].join(' and ')}.`, {
      hint: 'Choose one of them.',
    });
  }
  return format ?? 'table';
}
