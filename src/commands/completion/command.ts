import {Argument, Command, Option} from 'commander';
import {type Cli, examples} from '../../cli/invocation.ts';
import {MediaError} from '../../errors.ts';
import {printCompletion, printProfiles, shells} from './run.ts';

/** Declares `media completion`. */
export function completionCommand(cli: Cli, run = printCompletion): Command {
  return new Command('completion')
    .description('Print the completion script for a shell.')
    .addArgument(new Argument('[shell]', 'the shell').choices(shells))
    .addOption(new Option('--profiles', 'print the profile names that --profile completes to').hideHelp())
    .addHelpText(
      'after',
      examples([
        'source <(media completion bash)',
        'source <(media completion zsh)',
        'media completion fish | source',
        'media completion powershell | Out-String | Invoke-Expression',
      ]),
    )
    .action(async (shell: (typeof shells)[number] | undefined, {profiles}: {profiles?: boolean}) => {
      if (profiles) return printProfiles(cli.host, cli.stdout);
      if (shell === undefined) {
        throw new MediaError('usage', 'No shell was given.', {
          hint: `Use one of ${shells.join(', ')}, as in media completion bash`,
        });
      }
      await run(shell, cli.stdout);
    });
}
