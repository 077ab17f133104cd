import {Argument, Command} from 'commander';
import {type Cli, examples} from './cli.ts';
import {printCompletion, shells} from './completion-run.ts';

/** Declares `media completion`. */
export function completionCommand(cli: Cli, run = printCompletion): Command {
  return new Command('completion')
    .description('Print the completion script of a shell.')
    .addArgument(new Argument('<shell>', 'the shell to print it for').choices(shells))
    .addHelpText(
      'after',
      examples([
        'source <(media completion bash)',
        'source <(media completion zsh)',
        'media completion fish | source',
        'media completion powershell | Out-String | Invoke-Expression',
      ]),
    )
    .action(async (shell: (typeof shells)[number]) => {
      await run(shell, cli.stdout);
    });
}
