import {readFileSync} from 'node:fs';
import type {Host} from '../../host.ts';
import type {Stdout} from '../../output/stdout.ts';
import {packageFile} from '../../package-file.ts';
import {readProfiles} from '../../settings/store.ts';

const files = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

/** The shells that there are completions for. */
export const shells = Object.keys(files) as readonly (keyof typeof files)[];

/** Prints the completion script of a shell. */
export async function printCompletion(shell: keyof typeof files, stdout: Stdout): Promise<void> {
  await stdout.write(readFileSync(packageFile(`completions/${files[shell]}`), 'utf8'));
}

/**
 * Prints the names of the profiles, one a line, for the scripts. Whatever is wrong with the settings is told by the
 * command to come, not here.
 */
export async function printProfiles(host: Host, stdout: Stdout): Promise<void> {
  const profiles = await readProfiles(host).catch(() => ({}));
  // A shell takes each line for a word: nothing that it could read as anything else.
  const names = Object.keys(profiles).filter(name => /^\w[\w.-]*$/.test(name));
  await stdout.write(names.map(name => `${name}\n`).join(''));
}
