import type {CommandNode, Values} from './command-tree.ts';

/** The command and all commands below it, each before its subcommands. */
export function allCommands(command: CommandNode): CommandNode[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** The last word of a command. */
export function nameOf(command: CommandNode): string {
  return command.path.at(-1) ?? 'media';
}

/** What is completed, as the scripts for bash and PowerShell read it: `file`, or `words` and the words themselves. */
export function kindOf(values: Values): string {
  return values.kind === 'words' ? `words ${values.words.join(' ')}` : values.kind;
}

/** What is completed at each place, and at all further ones (`rest`) if the last argument may be repeated. */
export function argumentKinds(command: CommandNode) {
  const kinds = (isRest: boolean) =>
    command.arguments.filter(({variadic}) => variadic === isRest).map(({values}) => kindOf(values));
  return {fixed: kinds(false), rest: kinds(true)[0]};
}
