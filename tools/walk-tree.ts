import type {CommandNode} from './command-tree.ts';

/** The command and all commands below it, each before its subcommands. */
export function allCommands(command: CommandNode): CommandNode[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** The last word of a command. */
export function nameOf(command: CommandNode): string {
  return command.path.at(-1) ?? 'media';
}
