import {Argument, Option} from 'commander';
import {MediaError} from '../../errors.ts';
import {packageText} from '../../package-file.ts';
import type {CliCommand} from '../session/invocation.ts';
import {readProfiles} from '../settings/store.ts';

export function completionCommand(completion: CliCommand): void {
  completion
    .description('Print the completion script for a shell.')
    .addArgument(new Argument('[shell]', 'the shell').choices(shells))
    .addOption(new Option('--profiles', 'print the profile names that --profile completes to').hideHelp())
    .examples([
      'source <(media completion bash)',
      'source <(media completion zsh)',
      'media completion fish | source',
      'media completion powershell | Out-String | Invoke-Expression',
    ])
    .runs(async ({profiles}: {profiles?: boolean}, {host, stdout}, shell?: (typeof shells)[number]) => {
      if (profiles) {
        // What is wrong with the settings is reported by the command that is completed.
        const names = Object.keys(await readProfiles(host).catch(() => ({})));
        // The shell reads each line as a word, so names that it could misread are left out.
        const words = names.filter(name => /^\w[\w.-]*$/.test(name));
        return stdout.write(words.map(name => `${name}\n`).join(''));
      }
      if (shell === undefined)
        throw new MediaError('usage', 'No shell was given.', {
          hint: `Use one of ${shells.join(', ')}, as in: media completion bash`,
        });
      await stdout.write(packageText(`completions/${scriptOf[shell]}`));
    });
}

const scriptOf = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

const shells = Object.keys(scriptOf) as readonly (keyof typeof scriptOf)[];
