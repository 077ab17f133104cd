import {readFileSync} from 'node:fs';
import type {Host} from '../host.ts';
import {Stdout} from '../output/stdout.ts';
import {packageFile} from '../package-file.ts';

const files = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

/** The shells that there are completions for. */
export const shells = Object.keys(files) as readonly (keyof typeof files)[];

/** What of a Host this needs; a Node process has it as it is. */
type ShellHost = Pick<Host, 'env' | 'cwd' | 'stdout'>;

/** Prints the completion script of a shell. */
export async function printCompletion(shell: keyof typeof files, stdout: Stdout): Promise<void> {
  await stdout.write(readFileSync(packageFile(`completions/${files[shell]}`), 'utf8'));
}

/**
 * Answers what shells ask whenever they start or complete a word, without the command tree: `completion SHELL`, and
 * `completion --profiles`, which the scripts call. Resolves to the exit status, or to undefined for any other command.
 */
export async function answerShell(argv: readonly string[], host: ShellHost): Promise<number | undefined> {
  const [command, what, ...others] = argv;
  if (command !== 'completion' || others.length > 0) return undefined;
  const stdout = new Stdout(host.stdout);
  const shell = shells.find(name => name === what);
  if (shell !== undefined) await printCompletion(shell, stdout);
  else if (what === '--profiles') await printProfiles(host, stdout);
  else return undefined;
  return stdout.failure === undefined ? 0 : undefined;
}

/** The names of the profiles, one a line. Whatever is wrong with the settings is told by the command to come, not here. */
async function printProfiles(host: ShellHost, stdout: Stdout): Promise<void> {
  const {configDirectory} = await import('../settings/paths.ts');
  try {
    const {profiles} = JSON.parse(readFileSync(`${configDirectory(host)}/config.json`, 'utf8'));
    // A shell takes each line for a word: nothing that it could read as anything else.
    const names = Object.keys(profiles).filter(name => /^\w[\w.-]*$/.test(name));
    await stdout.write(names.map(name => `${name}\n`).join(''));
  } catch {}
}
