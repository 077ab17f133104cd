import {readFile} from 'node:fs/promises';
import {buildProgram} from '../src/commands/program.ts';
import {systemHost} from '../src/host.ts';
import {Stdout} from '../src/output/stdout.ts';
import {mediaExtensions, mediaNames} from '../src/sources/media-type/decide.ts';
import {bashCompletion} from './bash.ts';
import {type CompletionData, describeProgram} from './command-tree.ts';
import {fishCompletion} from './fish.ts';
import {manualPage} from './manual-page.ts';
import {powershellCompletion} from './powershell.ts';
import {mediaTypes} from './reference.ts';
import {referencePages, withTables} from './reference-pages.ts';
import {zshCompletion} from './zsh.ts';

const scripts = {
  'media.bash': bashCompletion,
  _media: zshCompletion,
  'media.fish': fishCompletion,
  'media.ps1': powershellCompletion,
};

/** Every file that is generated from the code, wholly or in part: its path in the project, and its text. */
export async function generatedFiles(root: URL): Promise<Map<string, string>> {
  const data = await completionData();
  const files = new Map<string, string>();
  for (const [name, generate] of Object.entries(scripts)) {
    const template = await readFile(new URL(`tools/templates/${name}`, root), 'utf8');
    files.set(`completions/${name}`, generate(data, template));
  }
  files.set('man/media.1', manualPage(data));
  const types = mediaTypes(await mediaExtensions());
  for (const page of referencePages)
    files.set(page, withTables(page, await readFile(new URL(page, root), 'utf8'), types));
  return files;
}

async function completionData(): Promise<CompletionData> {
  const host = systemHost();
  const cli = {host, stdout: new Stdout(host.stdout), argv: [], typed: [], status: 0, abandon: () => {}};
  return describeProgram(buildProgram(cli, {out: '', err: ''}), await mediaNames());
}
