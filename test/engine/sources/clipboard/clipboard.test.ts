import {chmod, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, test} from 'vitest';
import {readClipboard} from '../../../../src/engine/sources/clipboard/clipboard.ts';
import {type Host, systemHost} from '../../../../src/host.ts';
import {eventually} from '../../../support/eventually.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {temporaryDirectory} from '../../../support/media.ts';

/** A desktop of a platform, on whose PATH there is nothing but these programs; each line of `calls` is how one was called. */
async function desktop(changes: Partial<Host>, programs: Record<string, string>) {
  const directory = await temporaryDirectory();
  const calls = join(directory, 'calls');
  for (const [name, script] of Object.entries(programs)) {
    const call = `{ printf %s "\${0##*/}"; printf ' %s' "$@"; echo; } >> "${calls}"`;
    await writeFile(join(directory, name), `#!/bin/sh\n${call}\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  const env = {...changes.env, PATH: [directory, join(directory, 'none')].join(delimiter)};
  const host: Host = {...systemHost(), ...changes, env};
  return {host, calls: async () => (await readFile(calls, 'utf8')).trimEnd().split('\n')};
}

const wayland = {platform: 'linux', env: {WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0'}} as const;
const x11 = {platform: 'linux', env: {DISPLAY: ':0'}} as const;
const mac = {platform: 'darwin', env: {}} as const;
const windows = {platform: 'win32', env: {}} as const;

const picture = {picture: Buffer.from('\x89PNG', 'latin1'), name: 'clipboard.png'};
const png = "printf '\\211PNG'";

test.for<[string, Partial<Host>, Record<string, string>, object, (string | RegExp)[]]>([
  [
    'Wayland: PNG before what else is offered',
    wayland,
    {
      'wl-paste': `[ "$1" = -l ] && printf 'text/html\\nimage/jpeg\\nimage/png\\n' || ${png}`,
      xclip: 'exit 1',
    },
    picture,
    ['wl-paste -l', 'wl-paste -n -t image/png'],
  ],
  [
    'Wayland without wl-paste: xclip, and the only format there is',
    wayland,
    {xclip: `[ "$4" = TARGETS ] && printf 'TARGETS\\nimage/x-portable-pixmap\\n' || ${png}`},
    {...picture, name: 'clipboard'},
    [
      'xclip -selection clipboard -target TARGETS -out',
      'xclip -selection clipboard -target image/x-portable-pixmap -out',
    ],
  ],
  [
    'X: files of a file manager before their picture',
    x11,
    {
      xclip: `[ "$4" = TARGETS ] && printf 'image/png\\nx-special/gnome-copied-files\\n' ||
        printf 'copy\\nfile:///a%%20b.png\\nfile:///c.mp4\\nfile:///a%%20b.png'`,
    },
    {files: ['/a b.png', '/c.mp4']},
    [
      'xclip -selection clipboard -target TARGETS -out',
      'xclip -selection clipboard -target x-special/gnome-copied-files -out',
    ],
  ],
  [
    'X: files of this machine and of a server: the former, and the names of the others',
    x11,
    {
      xclip: `[ "$4" = TARGETS ] && printf 'x-special/gnome-copied-files\\n' ||
        printf 'cut\\nfile:///a.png\\nsftp://host/b.png\\nsmb://host/c.png'`,
    },
    {
      files: ['/a.png'],
      warning:
        'Not uploaded: sftp://host/b.png, smb://host/c.png. They are not files on this machine, or their names are not UTF-8.',
    },
    [/TARGETS/, /gnome-copied-files/],
  ],
  [
    'X: a list of web addresses with a picture: the picture',
    x11,
    {
      xclip: `case $4 in TARGETS) printf 'text/uri-list\\nimage/gif\\n' ;; image/gif) ${png} ;;
        *) printf 'https://example.com/a.png\\r\\nfile://host/share/a.png' ;; esac`,
    },
    {...picture, name: 'clipboard.gif'},
    [/TARGETS/, /uri-list/, /image\/gif/],
  ],
  [
    'macOS: AppleScript, which prints hex',
    mac,
    {
      osascript: `[ "$2" = 'clipboard info' ] && echo '«class 8BPS», 99, «class PNGf», 4, TIFF picture, 9' ||
        echo '«data PNGf89504E47»'`,
    },
    picture,
    ['osascript -e clipboard info', 'osascript -e the clipboard as «class PNGf»'],
  ],
  [
    'macOS: a file of the Finder, with its icon',
    mac,
    {
      osascript: `[ "$2" = 'clipboard info' ] && echo '«class furl», 20, «class PNGf», 4' || echo '/写真 1.png'`,
    },
    {files: ['/写真 1.png']},
    ['osascript -e clipboard info', 'osascript -e POSIX path of (the clipboard as «class furl»)'],
  ],
  [
    'Windows: a picture',
    windows,
    {'powershell.exe': `case $5 in *ContainsImage*) printf 'picture\\r\\n' ;; *) ${png} ;; esac`},
    picture,
    [
      /^powershell\.exe -NoProfile -NonInteractive -Sta -Command .*ContainsImage/,
      /-Command .*GetImage\(\)\.Save/,
    ],
  ],
  [
    'Windows: files of the Explorer',
    windows,
    {
      'powershell.exe': `case $5 in *ContainsImage*) printf 'files\\r\\n' ;; *) printf '\\357\\273\\277/写真.png\\r\\n/b.png\\r\\n' ;; esac`,
    },
    {files: ['/写真.png', '/b.png']},
    [/ContainsFileDropList/, /UTF8Encoding.*GetFileDropList\(\)/],
  ],
])('%s', async ([, changes, programs, content, called]) => {
  const {host, calls} = await desktop(changes, programs);
  expect(await readClipboard(host)).toEqual(content);
  expect(await calls()).toEqual(
    called.map(call => (typeof call === 'string' ? call : expect.stringMatching(call))),
  );
});

const empty = {code: 'clipboard_empty', message: 'The clipboard contains no picture.'};
const unusable = (why: string) => ({
  code: 'clipboard_unusable',
  message: `The clipboard could not be read: ${why}.`,
});

test.for<[string, Partial<Host>, Record<string, string>, object]>([
  ['Wayland: empty', wayland, {'wl-paste': "echo 'No selection' >&2; exit 1"}, empty],
  ['Wayland: text', wayland, {'wl-paste': 'echo text/plain'}, empty],
  ['X: empty', x11, {xclip: "echo 'Error: target TARGETS not available' >&2; exit 1"}, empty],
  [
    'X: a file of a server, and one whose name is not UTF-8',
    x11,
    {
      xclip: `[ "$4" = TARGETS ] && printf 'text/uri-list\\n' || printf 'sftp://host/b.png\\nfile:///%%ff.gif'`,
    },
    {
      ...empty,
      hint: 'Not uploaded: sftp://host/b.png, file:///%ff.gif. They are not files on this machine, or their names are not UTF-8.',
    },
  ],
  ['X: a picture of no bytes', x11, {xclip: '[ "$4" = image/png ] || echo image/png'}, empty],
  ['macOS: text', mac, {osascript: "echo 'Unicode text, 3, string, 3'"}, empty],
  ['Windows: text', windows, {'powershell.exe': ':'}, empty],
  [
    'X: no server',
    x11,
    {xclip: 'echo "Error: Can\'t open display: :0" >&2; exit 1'},
    unusable("xclip: Error: Can't open display: :0"),
  ],
  ['X: a program that dies', x11, {xclip: 'exit 7'}, unusable('xclip: it ended with status 7')],
  ['Windows without PowerShell', windows, {}, unusable('powershell.exe is not on the PATH')],
  [
    'Wayland without a program',
    wayland,
    {},
    {
      code: 'clipboard_unusable',
      message: 'To read the clipboard, wl-clipboard must be installed.',
      hint: 'On Debian and Ubuntu: sudo apt install wl-clipboard',
    },
  ],
  ['X without a program', x11, {}, {hint: 'On Debian and Ubuntu: sudo apt install xclip'}],
])('%s: why there is no picture', async ([, changes, programs, error]) => {
  const {host} = await desktop(changes, programs);
  await expect(readClipboard(host)).rejects.toMatchObject(error);
});

test('a program that hangs: given up after 30 s', async () => {
  const clock = new ManualClock();
  const {host, calls} = await desktop({...x11, clock}, {xclip: 'exec /bin/sleep 600'});
  const reading = expect(readClipboard(host)).rejects.toMatchObject(
    unusable('xclip did not end within 30 s'),
  );
  await eventually(() => calls().catch(() => undefined));
  await clock.advance(30_000);
  await reading;
});
