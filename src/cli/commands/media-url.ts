import {MediaError, systemError} from '../../errors.ts';
import {inodeOf} from '../../lib/files/file-system.ts';
import {pathOfFileUrl, resolveUserPath} from '../../lib/files/typed-path.ts';
import {printable} from '../../lib/printable.ts';
import {posixWord} from '../../lib/shell.ts';
import {systemCode} from '../../lib/system-code.ts';
import {mediaUrlCommand} from '../../package-file.ts';
import {asMediaError} from '../output/report.ts';
import type {Stdout} from '../output/stdout.ts';
import {type Cli, CliCommand, type ExitStatus, type Invocation} from '../session/invocation.ts';
import {type GeotagFlag, geotagsOption} from '../session/values.ts';
import {asRoot} from './program.ts';

interface MediaUrlOptions {
  clipboard?: boolean;
  once: boolean;
  geotags?: GeotagFlag;
  /** The path of the script to write instead of uploading anything. */
  launcher?: string;
}

/** Builds the command line of `media-url`, the program that editors run. */
export function buildMediaUrl(cli: Cli): CliCommand {
  return asRoot(new CliCommand('media-url', cli), cli)
    .description('Upload files and print their URLs, for editors that run a command.')
    .usage('[options] <file...>')
    .argument('[file...]', 'images and videos, as paths or file:// URLs')
    .option('--clipboard', 'upload the picture or the files in the clipboard')
    .addOption(geotagsOption())
    .option('--no-once', 'upload again what this machine has already uploaded')
    .option('--launcher <file>', 'write a script that runs media-url with these options from any program')
    .examples(
      [
        'media-url photo.png "other photo.png"',
        'media-url --clipboard',
        'media-url upload photo.png',
        'media-url --profile blog --launcher ~/bin/media-url-blog',
      ],
      ['--clipboard', '--no-once', '--launcher'],
    )
    .runs(runMediaUrl);
}

/** Prints a URL for each file in order, or none if one fails. Editors that know PicGo put `upload` before the files. */
async function runMediaUrl(options: MediaUrlOptions, invocation: Invocation, words: string[]) {
  const {host, stdout} = invocation;
  if (options.launcher !== undefined) return writeLauncher(options.launcher, invocation);
  const isPicGo =
    words[0] === 'upload' &&
    (await inodeOf(resolveUserPath(host.cwd(), 'upload'), 'file', host.files)) === undefined;
  const files = isPicGo ? words.slice(1) : words;
  const clipboard = options.clipboard ?? (isPicGo && files.length === 0);
  try {
    const paths = pathsOf(files, clipboard);
    const {uploadedUrl, uploadFiles} = await import('./upload/upload-files.ts');
    const inputs = clipboard ? 'clipboard' : [...new Set(paths)];
    const {status, outcomes} = await uploadFiles(inputs, options, invocation);
    // Why a file failed has been reported on standard error.
    const failure = outcomes.find(outcome => 'error' in outcome)?.error;
    if (status !== 0 && isPicGo)
      await printPicGoError(failure ?? new MediaError('interrupted', 'The run was stopped.'), stdout);
    if (status !== 0) return status;
    outcomes.sort((one, other) => one.position - other.position);
    const byName = new Map(outcomes.map(outcome => [outcome.file, outcome]));
    // A file that was named twice is uploaded once, and its URL is printed twice.
    const names = clipboard ? outcomes.map(({file: name}) => name) : paths;
    await stdout.write(names.map(name => `${printable(uploadedUrl(name, byName.get(name)))}\n`).join(''));
    return 0;
  } catch (error) {
    if (isPicGo) await printPicGoError(asMediaError(error), stdout);
    throw error;
  }
}

/** Prints an error as PicGo does: its callers read only standard output, and ignore the exit status. */
function printPicGoError(error: MediaError, stdout: Stdout): Promise<void> {
  return stdout.write(`PicGo ERROR: ${printable(error.messageToKeep)}\n`);
}

/** The paths of the arguments, which are paths or, from some editors, file:// URLs; none with the clipboard. */
function pathsOf(files: readonly string[], clipboard: boolean): string[] {
  if (clipboard && files.length > 0)
    throw new MediaError('usage', 'Files and --clipboard were given together.', {hint: 'Choose one.'});
  if (!clipboard && files.length === 0)
    throw new MediaError('usage', 'No file was given.', {hint: 'Name files, as in: media-url photo.png'});
  return files.map(file => {
    try {
      return pathOfFileUrl(file);
    } catch (cause) {
      throw new MediaError('usage', `${file} is not the URL of a local file.`, {hint: 'Use a path.', cause});
    }
  });
}

/** Writes a script that runs media-url with these options from anywhere, with this Node, which may not be in PATH. */
async function writeLauncher(file: string, {host, report, optionWords}: Invocation): Promise<ExitStatus> {
  const options = optionWords(new Set(['launcher'])).map((word, at, words) =>
    words[at - 1] === '--cacert' ? resolveUserPath(host.cwd(), word) : word,
  );
  const words = [...mediaUrlCommand(host.nodePath()), ...options];
  const path = resolveUserPath(host.cwd(), file);
  const script =
    host.platform === 'win32'
      ? // In a script of cmd.exe, what is between two percent signs is a variable.
        `@echo off\r\n${words.map(word => `"${word.replaceAll('%', '%%')}"`).join(' ')} %*\r\n`
      : `#!/bin/sh\nexec ${words.map(posixWord).join(' ')} "$@"\n`;
  await host.files
    .writeFile(path, script, {mode: 0o755, flag: 'wx'})
    .then(() => host.files.chmod(path, 0o755))
    .catch(error => {
      const hint = systemCode(error) === 'EEXIST' ? 'Remove it, or name another file.' : undefined;
      throw systemError('local_failure', `${file} could not be written`, error, hint);
    });
  report.note(`Use ${file} as the command in your editor.`);
  return 0;
}
