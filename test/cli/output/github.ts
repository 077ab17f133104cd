import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Sandbox} from '../../support/media.ts';

/** The variables of a step on GitHub, with the files that the runner reads after it. */
export async function onGithub(box: Sandbox): Promise<{output: string; summary: string}> {
  const files = {output: join(box.directory, 'output'), summary: join(box.directory, 'summary')};
  await writeFile(files.output, '');
  await writeFile(files.summary, '');
  Object.assign(box.env, {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
  });
  return files;
}

/** What GitHub's runner takes for commands in these lines (actions/runner, ActionCommand.TryParseV2 and TryParse). */
export function commandsIn(text: string): string[] {
  return text.split(/\r\n|\r|\n/).filter(line => line.trimStart().startsWith('::') || line.includes('##['));
}
