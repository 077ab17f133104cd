import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {environment, media} from '../commands.js';
import {writeDocuments} from '../documents.js';
import {timed} from '../measure.js';
import {within} from '../within.js';

export async function rewrite(directory, sink) {
  const home = mkdtempSync(join(directory, 'rewrite-'));
  const env = {...environment(sink.url, home), XDG_STATE_HOME: home};
  writeDocuments(join(home, 'docs'), 2000);
  const {wall, peak} = timed(media('rewrite', '--write', 'docs'), {env, cwd: home});
  rmSync(home, {recursive: true});
  const what = 'rewrite of 2,000 documents with 10,000 references';
  return [
    within(what, 'ms', [wall], 20_000),
    within(what, 'MiB', [peak], 250),
    ...checkOfReferencePages(directory),
  ];
}

/** Documentation of commands: 3,000 documents of 11 KB, one in 60 of which has a picture. */
function checkOfReferencePages(directory) {
  const home = mkdtempSync(join(directory, 'check-'));
  mkdirSync(join(home, 'docs'));
  const part =
    '## Parameters\n\n- `-InputObject <Object>`: an object, see [objects](objects.md).\n\n' +
    '```powershell\nGet-Item -Path C:\\Windows | Format-Table -Property Name, Length # <link>\n```\n\n' +
    '| Name | Default |\n|---|---|\n| `-Style` | _none_ |\n\n';
  for (let number = 0; number < 3000; number += 1) {
    const picture = number % 60 === 0 ? '![A window](window.png)\n' : '';
    writeFileSync(
      join(home, 'docs', `command-${number}.md`),
      `# Command ${number}\n\n${part.repeat(45)}${picture}`,
    );
  }
  // Status 1 says that there are references.
  const command = ['sh', '-c', '"$@"; test $? = 1', 'sh', ...media('rewrite', '--check', 'docs')];
  const {user, system} = timed(command, {env: environment('http://127.0.0.1:9', home), cwd: home});
  rmSync(home, {recursive: true});
  return [
    within('check of 3,000 documents of which 50 refer to a picture, CPU', 'ms', [user + system], 3_000),
  ];
}
