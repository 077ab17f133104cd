import type {Host} from '../../../host.ts';

export interface ClipboardCommand {
  program: string;
  parameters: readonly string[];
}

/** How a program shows the clipboard. */
export interface ClipboardProgram {
  /** Prints the formats on offer, separated by line breaks or commas; fails if nothing is in the clipboard. */
  formats: ClipboardCommand;
  /** The formats of a list of files, the best first. */
  files: readonly RegExp[];
  /** Prints the files in one of these formats: a path or file:// URL per line. */
  readFiles(format: string): ClipboardCommand;
  /** The formats of pictures, the best first. */
  pictures: readonly RegExp[];
  /** Prints the picture in one of these formats. */
  readPicture(format: string): ClipboardCommand;
  /** What it says when it fails since the clipboard has nothing, or nothing in a format. */
  nothing?: RegExp;
}

/** The programs for the clipboard of this machine, the best first; none without a screen. */
export function clipboardPrograms({platform, env}: Pick<Host, 'platform' | 'env'>): ClipboardProgram[] {
  if (platform === 'darwin') return [macOS()];
  if (platform === 'win32') return [windows()];
  return [...(env['WAYLAND_DISPLAY'] ? [wayland()] : []), ...(env['DISPLAY'] ? [x11()] : [])];
}

/** On Linux, formats are media types; file managers have two for the files that were copied. */
const byMediaType = (read: (format: string) => ClipboardCommand) => ({
  files: [/^text\/uri-list$/, /^x-special\/gnome-copied-files$/],
  readFiles: read,
  // Browsers offer the picture that they show as PNG; some programs offer each format that they can write.
  pictures: [/^image\/png$/, /^image\/jpeg$/, /^image\//],
  readPicture: read,
});

const wlPaste = (...parameters: string[]): ClipboardCommand => ({program: 'wl-paste', parameters});

const wayland = (): ClipboardProgram => ({
  formats: wlPaste('-l'),
  ...byMediaType(format => wlPaste('-n', '-t', format)),
  nothing: /no selection|nothing is copied|no suitable type/i,
});

const xclip = (format: string): ClipboardCommand => ({
  program: 'xclip',
  parameters: ['-selection', 'clipboard', '-target', format, '-out'],
});

const x11 = (): ClipboardProgram => ({
  formats: xclip('TARGETS'),
  ...byMediaType(xclip),
  nothing: /target \S+ not available/i,
});

const appleScript = (script: string): ClipboardCommand => ({
  program: 'osascript',
  parameters: ['-e', script],
});

/** Files come first: the Finder also offers the icon of a copied file. AppleScript turns every picture into PNG. */
const macOS = (): ClipboardProgram => ({
  formats: appleScript('clipboard info'),
  files: [/^\xabclass furl\xbb$/],
  readFiles: () => appleScript('POSIX path of (the clipboard as «class furl»)'),
  pictures: [/^\xabclass PNGf\xbb$/, /^(TIFF|JPEG|GIF) picture$/],
  readPicture: () => appleScript('the clipboard as «class PNGf»'),
  nothing: /-1700/,
});

const powerShell = (script: string): ClipboardCommand => ({
  program: 'powershell.exe',
  // The clipboard of Windows can only be read from a single-threaded apartment.
  parameters: ['-NoProfile', '-NonInteractive', '-Sta', '-Command', `${windowsForms} ${script}`],
});

const windowsForms =
  "$ErrorActionPreference = 'Stop'; Add-Type -AssemblyName System.Windows.Forms, System.Drawing;" +
  ' $clipboard = [System.Windows.Forms.Clipboard];';

const windows = (): ClipboardProgram => ({
  formats: powerShell(
    "if ($clipboard::ContainsFileDropList()) { 'files' } if ($clipboard::ContainsImage()) { 'picture' }",
  ),
  files: [/^files$/],
  readFiles: () =>
    powerShell(
      '[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false; $clipboard::GetFileDropList()',
    ),
  pictures: [/^picture$/],
  readPicture: () =>
    powerShell(
      '$bytes = New-Object System.IO.MemoryStream;' +
        ' $clipboard::GetImage().Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png);' +
        ' $output = [Console]::OpenStandardOutput(); $bytes.WriteTo($output); $output.Flush()',
    ),
});
