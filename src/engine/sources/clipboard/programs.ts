import type {Host} from '../../../host.ts';
import type {ChildRequest} from '../../../lib/child.ts';

export type ClipboardCommand = Exclude<ChildRequest['command'], string>;

export interface ClipboardProgram {
  /** Prints the formats on offer, separated by line breaks or commas; fails if nothing is in the clipboard. */
  formats: ClipboardCommand;
  /** The formats of a list of files, the best first. It is printed as a path or file:// URL per line. */
  files: readonly RegExp[];
  pictures: readonly RegExp[];
  /** Prints what is in the clipboard in one of these formats. */
  read(format: string): ClipboardCommand;
  /** What it says when it fails since the clipboard has nothing, or nothing in a format. */
  nothing?: RegExp;
}

/** The programs for the clipboard of this machine, the best first; none without a screen. */
export function clipboardPrograms({platform, env}: Pick<Host, 'platform' | 'env'>): ClipboardProgram[] {
  if (platform === 'darwin') return [macOS];
  if (platform === 'win32') return [windows];
  return [...(env['WAYLAND_DISPLAY'] ? [wayland] : []), ...(env['DISPLAY'] ? [x11] : [])];
}

/** On Linux, formats are media types; file managers have two for the files that were copied. */
const mediaTypes = {
  files: [/^text\/uri-list$/, /^x-special\/gnome-copied-files$/],
  // Browsers offer the picture that they show as PNG; some programs offer each format that they can write.
  pictures: [/^image\/png$/, /^image\/jpeg$/, /^image\//],
};

const wlPaste = (...parameters: string[]): ClipboardCommand => ({program: 'wl-paste', parameters});

const wayland: ClipboardProgram = {
  ...mediaTypes,
  formats: wlPaste('-l'),
  read: format => wlPaste('-n', '-t', format),
  nothing: /no selection|nothing is copied|no suitable type/i,
};

/** The command that prints the clipboard in a format; the format TARGETS lists those on offer. */
const xclip = (format: string): ClipboardCommand => ({
  program: 'xclip',
  parameters: ['-selection', 'clipboard', '-target', format, '-out'],
});

const x11: ClipboardProgram = {
  ...mediaTypes,
  formats: xclip('TARGETS'),
  read: xclip,
  nothing: /target \S+ not available/i,
};

const osascript = (script: string): ClipboardCommand => ({program: 'osascript', parameters: ['-e', script]});

const macPath = 'POSIX path of (the clipboard as «class furl»)';
const macPicture = 'the clipboard as «class PNGf»';

/** Files come first: the Finder also offers the icon of a copied file. AppleScript turns every picture into PNG. */
const macOS: ClipboardProgram = {
  formats: osascript('clipboard info'),
  files: [/^\xabclass furl\xbb$/],
  pictures: [/^\xabclass PNGf\xbb$/, /^(TIFF|JPEG|GIF) picture$/],
  read: format => osascript(format.includes('furl') ? macPath : macPicture),
  nothing: /-1700/,
};

const windowsForms =
  "$ErrorActionPreference = 'Stop'; Add-Type -AssemblyName System.Windows.Forms, System.Drawing;" +
  ' $clipboard = [System.Windows.Forms.Clipboard];';

/** Runs a script that finds the clipboard in $clipboard. */
const powerShell = (script: string): ClipboardCommand => ({
  program: 'powershell.exe',
  // The clipboard of Windows can only be read from a single-threaded apartment.
  parameters: ['-NoProfile', '-NonInteractive', '-Sta', '-Command', `${windowsForms} ${script}`],
});

const windows: ClipboardProgram = {
  formats: powerShell(
    "if ($clipboard::ContainsFileDropList()) { 'files' } if ($clipboard::ContainsImage()) { 'picture' }",
  ),
  files: [/^files$/],
  pictures: [/^picture$/],
  read: format =>
    powerShell(
      format === 'files'
        ? '[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false; $clipboard::GetFileDropList()'
        : '$bytes = New-Object System.IO.MemoryStream;' +
            ' $clipboard::GetImage().Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png);' +
            ' $output = [Console]::OpenStandardOutput(); $bytes.WriteTo($output); $output.Flush()',
    ),
};
