import {mkdtempSync, rmSync} from 'node:fs';
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
  return [within(what, 'ms', [wall], 20_000), within(what, 'MiB', [peak], 250)];
}
