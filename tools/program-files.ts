import {readFile} from 'node:fs/promises';
import mimeTypes from 'mime-types';
import {buildProgram} from '../src/cli/commands/program.ts';
import {Stdout} from '../src/cli/output/stdout.ts';
import {systemHost} from '../src/host.ts';
import {ambiguousExtensions, extensionTypes} from '../src/media/type/tables/extension-types.ts';
import {isMediaType} from '../src/media/type/tables/type-tables.ts';
import {bashCompletion} from './bash.ts';
import {type CompletionData, describeProgram} from './command-tree.ts';
import {fishCompletion} from './fish.ts';
import {helpJson} from './help-json.ts';
import {manualPage} from './manual-page.ts';
import {powershellCompletion} from './powershell.ts';
import {topicsOf, topicText} from './topics.ts';
import {zshCompletion} from './zsh.ts';

const scripts = {
  'media.bash': bashCompletion,
  _media: zshCompletion,
  'media.fish': fishCompletion,
  'media.ps1': powershellCompletion,
};

/** Every file that is generated from the program as it runs, for which no compiler is needed: path and text. */
export async function programFiles(root: URL): Promise<Map<string, string>> {
  const data = completionData(knownExtensions());
  const files = new Map<string, string>();
  for (const [name, generate] of Object.entries(scripts)) {
    const template = await readFile(new URL(`tools/templates/${name}`, root), 'utf8');
    files.set(`completions/${name}`, generate(data, template));
  }
  files.set('man/media.1', manualPage(data));
  files.set('man/help.json', `${JSON.stringify(helpJson(data), null, 1)}\n`);
  for (const [name, topic] of Object.entries(topicsOf(data))) files.set(`man/${name}.txt`, topicText(topic));
  return files;
}

/** What is known of the program, with its commands, options and file types. */
export function completionData(known: ReturnType<typeof knownExtensions>): CompletionData {
  const host = systemHost();
  const cli = {
    host,
    stdout: new Stdout(host.stdout),
    argv: [],
    optionsRead: [],
    output: '',
    status: 0,
    abandon: () => {},
  };
  return describeProgram(buildProgram(cli), {
    extensions: known.map(({extension}) => extension).sort(),
    // Also the type that mime-types has for an extension that means another here.
    types: [...new Set([...Object.values(mimeTypes.types), ...extensionTypes.values()])]
      .filter(isMediaType)
      .sort(),
  });
}

/**
 * The type of each extension of images and videos (lower case, without the dot), and whether the bytes must confirm it.
 */
export function knownExtensions() {
  return [...new Map([...Object.entries(mimeTypes.types), ...extensionTypes])]
    .filter(([, type]) => isMediaType(type))
    .map(([extension, type]) => ({extension, type, isAmbiguous: ambiguousExtensions.has(extension)}));
}
