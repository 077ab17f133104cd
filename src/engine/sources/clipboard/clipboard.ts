import {dirname, isAbsolute} from 'node:path';
import {Readable} from 'node:stream';
import {MediaError} from '../../../errors.ts';
import type {Host, StopSignal} from '../../../host.ts';
import {runChild} from '../../../lib/child.ts';
import {pathOfFileUrl} from '../../../lib/files/typed-path.ts';
import {isString} from '../../../lib/json.ts';
import {omitUndefined, own} from '../../../lib/object.ts';
import {systemCode, undefinedIfThrows} from '../../../lib/system-code.ts';
import type {Source} from '../open/source.ts';
import {spooledSource} from '../open/spooled.ts';
import {type ClipboardCommand, type ClipboardProgram, clipboardPrograms} from './programs.ts';

/** What was copied: files, by their absolute paths, with a sentence that names what else was copied, or a picture. */
export type ClipboardContent = {files: string[]; warning?: string} | {picture: Buffer; name: string};

/** How long a program may take: it waits for the program of the picture, and on macOS for the user's permission. */
const timeLimitMs = 30_000;

/** Reads the files or the picture in the clipboard; `clipboard_empty` without either, else `clipboard_unusable`. */
export async function readClipboard(host: Host, stop?: StopSignal): Promise<ClipboardContent> {
  for (const program of clipboardPrograms(host)) {
    const output = (command: ClipboardCommand) => outputOf(command, host, program.nothing, stop);
    const formats = (await output(program.formats))?.toString().split(/[,\r\n]+\s*/);
    if (formats === undefined) continue;
    return contentIn(formats, program, async command => (await output(command)) ?? Buffer.of());
  }
  throw noProgramError(host);
}

/** A copied picture as a source, in a temporary file. Journals and manifests know it by `name`. */
export function pictureSource({picture, name}: {picture: Buffer; name: string}, host: Host): Source {
  const {files} = host;
  const stream = () => Readable.from([picture]);
  const what = 'The picture in the clipboard';
  return spooledSource({what, name, stream, temporaryDirectory: host.temporaryDirectory(), files});
}

/** What is in the clipboard, of which the program offers these formats; `outputOf` runs a command of the program. */
async function contentIn(
  formats: readonly string[],
  {files, pictures, read}: ClipboardProgram,
  outputOf: (command: ClipboardCommand) => Promise<Buffer>,
): Promise<ClipboardContent> {
  const ofFiles = best(formats, files);
  let warning: string | undefined;
  if (ofFiles !== undefined) {
    const {paths, others} = pathsIn(await outputOf(read(ofFiles)));
    if (others.length > 0)
      warning = `Not uploaded: ${others.join(', ')}. They are not files on this machine, or their names are not UTF-8.`;
    if (paths.length > 0) return {files: paths, ...omitUndefined({warning})};
  }
  const ofPicture = best(formats, pictures);
  if (ofPicture === undefined) throw emptyClipboardError(warning);
  const picture = decodeOutput(await outputOf(read(ofPicture)));
  if (picture.length === 0) throw emptyClipboardError();
  return {picture, name: pictureName(ofPicture)};
}

/** What a command prints; undefined if its program is not installed. `nothing`: what it says if nothing was copied. */
async function outputOf(command: ClipboardCommand, host: Host, nothing?: RegExp, stop?: StopSignal) {
  const end = await runChild(host, {
    command,
    stderr: 'pipe',
    // Windows looks for programs in the working directory first.
    cwd: dirname(host.nodePath()),
    timeoutMs: timeLimitMs,
    stop,
    longestOutput: 512 * 1024 * 1024,
  });
  stop?.throwIfAborted();
  if (end.kind === 'timeout')
    throw unusableClipboardError(`${command.program} did not end within ${timeLimitMs / 1000} s`);
  if (end.kind === 'failed') {
    if (systemCode(end.cause) === 'ENOENT') return undefined;
    throw unusableClipboardError(`${command.program}: ${end.reason}`, end.cause);
  }
  if (end.status === 0) return end.stdout;
  if (nothing?.test(end.stderr)) throw emptyClipboardError();
  const [reason = ''] = end.stderr.trim().split(/\r?\n/);
  throw unusableClipboardError(`${command.program}: ${reason || `it ended with status ${end.status}`}`);
}

/** The offered format that matches the first of the patterns that any format matches. */
function best(formats: readonly string[], patterns: readonly RegExp[]): string | undefined {
  return patterns.map(pattern => formats.find(offered => pattern.test(offered))).find(isString);
}

/** The absolute paths that lines name as such or as file:// URLs; `others`: what else they name, as it is written. */
function pathsIn(text: Buffer): {paths: string[]; others: string[]} {
  const paths: string[] = [];
  const others: string[] = [];
  for (const line of text.toString().split(/\r?\n/)) {
    const path = undefinedIfThrows(() => pathOfFileUrl(line.trim()));
    if (path !== undefined && isAbsolute(path)) paths.push(path);
    // File managers begin a list with a verb; a list of URLs may have comments.
    else if (!/^(copy|cut|#.*)?$/.test(line.trim())) others.push(line.trim());
  }
  return {paths: [...new Set(paths)], others};
}

/** A file name for a picture, by its format: `clipboard.png` on macOS and Windows, whose formats are no media types. */
function pictureName(format: string): string {
  if (!format.startsWith('image/')) return 'clipboard.png';
  const [, extension] = /^image\/(\w+)(?:\+xml)?$/.exec(format) ?? [];
  return extension === undefined ? 'clipboard' : `clipboard.${extension}`;
}

/** How AppleScript begins to print data; the name of its format and the data in hex follow. */
const scriptData = Buffer.from('«data ');

/** The bytes that AppleScript has printed in hex; the output of other programs as it is. */
function decodeOutput(output: Buffer): Buffer {
  if (!output.subarray(0, scriptData.length).equals(scriptData)) return output;
  return Buffer.from(output.subarray(scriptData.length + 'PNGf'.length).toString('latin1'), 'hex');
}

function emptyClipboardError(hint = 'Copy a picture, or a file in a file manager, and try again.') {
  return new MediaError('clipboard_empty', 'The clipboard contains no picture.', {hint});
}

/** The error for a clipboard that cannot be read; `why`: the end of the sentence. */
function unusableClipboardError(why: string, cause?: unknown): MediaError {
  const hint = 'Save the picture as a file, and upload that.';
  return new MediaError('clipboard_unusable', `The clipboard could not be read: ${why}.`, {hint, cause});
}

/** The error where no program for the clipboard is installed. */
function noProgramError(host: Host): MediaError {
  const {platform, env} = host;
  const ofSystem = own({darwin: 'osascript', win32: 'powershell.exe'}, platform);
  if (ofSystem !== undefined) return unusableClipboardError(`${ofSystem} is not on the PATH`);
  if (!env['WAYLAND_DISPLAY'] && !env['DISPLAY'])
    return unusableClipboardError('there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)');
  const name = env['WAYLAND_DISPLAY'] ? 'wl-clipboard' : 'xclip';
  return new MediaError('clipboard_unusable', `To read the clipboard, ${name} must be installed.`, {
    hint: `On Debian and Ubuntu: sudo apt install ${name}`,
  });
}
