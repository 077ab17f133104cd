import {readFileSync} from 'node:fs';
import type {Host} from '../../host.ts';
import type {Stdout} from '../../output/stdout.ts';
import {packageFile} from '../../package-file.ts';
import {readProfiles} from '../../settings/store.ts';

const files = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

/** The shells that have completions. */
export const shells = Object.keys(files) as readonly (keyof typeof files)[];

/** Prints the completion script of a shell. */
export async function printCompletion(shell: keyof typeof files, stdout: Stdout): Promise<void> {
  await stdout.write(readFileSync(packageFile(`completions/${files[shell]}`), 'utf8'));
}

/**
 * Prints the names of the profiles, one per line, for the scripts. Errors in the settings are left to the completed
 * command to report.
 */
export async function printProfiles(host: Host, stdout: Stdout): Promise<void> {
  const profiles = await readProfiles(host).catch(() => ({}));
  // The shell reads each line as a word, so names that it could misread are left out.
  const names = Object.keys(profiles).filter(name => /^\w[\w.-]*$/.test(name));
  await stdout.write(names.map(name => `${name}\n`).join(''));
}
