import {Command} from 'commander';
import {helpDescription} from '../cli/help-format.ts';
import {type Cli, examples} from '../cli/invocation.ts';
import {own} from '../lib/own.ts';
import {configCommand} from './account/config.ts';
import {loginCommand} from './account/login.ts';
import {logoutCommand} from './account/logout.ts';
import {whoamiCommand} from './account/whoami.ts';
import {bridgeCommand} from './bridge/command.ts';
import {completionCommand} from './completion.ts';
import {doctorCommand} from './doctor/command.ts';
import {graphqlCommand} from './graphql.ts';
import {journalCommand} from './journal/command.ts';
import {rewriteCommand} from './rewrite/command.ts';
import {asRoot, type Written} from './root-command.ts';
import {serveCommand} from './serve/command.ts';
import {uploadCommand} from './upload/command.ts';
import {watchCommand} from './watch/command.ts';

export type {Written} from './root-command.ts';

const commands: Record<string, (cli: Cli) => Command> = {
  upload: uploadCommand,
  rewrite: rewriteCommand,
  login: loginCommand,
  logout: logoutCommand,
  whoami: whoamiCommand,
  doctor: doctorCommand,
  journal: journalCommand,
  graphql: graphqlCommand,
  watch: watchCommand,
  bridge: bridgeCommand,
  serve: serveCommand,
  config: configCommand,
  completion: completionCommand,
};

/**
 * Builds the command tree, or only the part that a command line needs. Heavy modules are loaded when a command runs.
 */
export function buildProgram(cli: Cli, written: Written, [first = '']: readonly string[] = []): Command {
  const program = asRoot(new Command('media'), cli, written)
    .description(
      'Upload images and videos: streamed, checked, and never stored twice or lost without notice.',
    )
    .usage('<command> [options]')
    .addHelpText(
      'after',
      examples([
        'media upload photo.png --base-url embedded',
        'media login --base-url https://api.example.com',
        'media upload photo.png',
        "media upload -r ./photos --exclude '*.psd'",
      ]),
    );
  const named = own(commands, first);
  for (const command of named === undefined ? Object.values(commands) : [named])
    addInheriting(program, command(cli));
  addInheriting(program, helpCommand(program));
  return program.helpCommand(false);
}

/** addCommand() does not copy the output and exit settings; nested subcommands need them too. */
function addInheriting(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) child.copyInheritedSettings(parent);
  parent.addCommand(command);
}

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
