import {Command} from 'commander';
import {helpDescription} from '../cli/help-format.ts';
import {examples} from '../cli/invocation.ts';

/** Declares `media help`; unlike commander's own, it reports commands that do not exist. */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description(helpDescription)
    .argument('[command...]', 'a command and its subcommand')
    .addHelpText('after', examples(['media help upload', 'media help journal check']))
    .action(async (words: string[]) => {
      let found = program;
      for (const [index, word] of words.entries()) {
        const next = found.commands.find(command => command.name() === word);
        // Commander reports the error, with a suggestion.
        if (next === undefined && found.commands.length > 0)
          await program.parseAsync(words.slice(0, index + 1), {from: 'user'});
        found = next ?? found;
      }
      found.help();
    });
}
