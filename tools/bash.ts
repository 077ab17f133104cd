import type {CommandNode, CompletionData, OptionNode} from './command-tree.ts';
import {fillIn} from './fill-in.ts';
import {allCommands, argumentKinds, kindOf, nameOf} from './walk-tree.ts';

/** The completion script for bash: the template with the tables of all commands and options. */
export function bashCompletion(
  {program, globalOptions, mediaExtensions}: CompletionData,
  template: string,
): string {
  const commands = allCommands(program);
  return fillIn(template, {
    COMMANDS: commands.map(command => commandCase(command, globalOptions)).join('\n'),
    OPTIONS: optionCases(commands, globalOptions).join('\n'),
    EXTENSIONS: mediaExtensions.join('|'),
  });
}

function commandCase(command: CommandNode, globalOptions: readonly OptionNode[]): string {
  const options = [...command.options, ...globalOptions].flatMap(({names}) => names);
  const {fixed, rest} = argumentKinds(command);
  const settings = [
    ...(command.commands.length === 0 ? [] : [`commands=${quoted(command.commands.map(nameOf).join(' '))}`]),
    `options=${quoted(options.join(' '))}`,
    ...(fixed.length === 0 ? [] : [`arguments=(${fixed.map(quoted).join(' ')})`]),
    ...(rest === undefined ? [] : [`rest=${quoted(rest)}`]),
  ];
  return `    ${quoted(command.path.join(' '))})
${settings.map(setting => `      ${setting}`).join('\n')}
      ;;`;
}

function optionCases(commands: readonly CommandNode[], globalOptions: readonly OptionNode[]): string[] {
  const own = commands
    .filter(({path}) => path.length > 0)
    .flatMap(({path, options}) => options.flatMap(option => optionCase(path.join(' '), option)));
  return [...globalOptions.flatMap(option => optionCase(undefined, option)), ...own];
}

/** The line of an option of one command, or of every command. */
function optionCase(path: string | undefined, {names, value}: OptionNode): string[] {
  if (value === undefined) return [];
  const patterns = names.map(name =>
    path === undefined ? `*${quoted(` ${name}`)}` : quoted(`${path} ${name}`),
  );
  return [`    ${patterns.join(' | ')}) kind=${quoted(kindOf(value.values))} ;;`];
}

function quoted(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
