import {test} from 'vitest';
import {expectRefusal} from '../machine.ts';

test.each([
  ['a directory', ['.'], 1, /directory/],
  ['no local URL', ['file://host/share/a.png'], 2, /not the URL of a local file/],
])(
  '%s: nothing on stdout, the exit status of media upload, the reason on stderr',
  (_name, files, status, reason) => expectRefusal(files, status, reason),
);
