import type {CommandNode, CompletionData, OptionNode, Values} from './command-tree.ts';
import {fillIn} from './fill-in.ts';
import {allCommands, nameOf} from './walk-tree.ts';

/** The completion script for fish: the template with a line for each command, option and argument. */
export function fishCompletion(
  {program, globalOptions, mediaExtensions}: CompletionData,
  template: string,
): string {
  const commands = allCommands(program);
  return fillIn(template, {
    PARENTS: commands
      .filter(({commands}) => commands.length > 0)
      .map(parentCase)
      .join('\n'),
    VALUES: valueCases(commands, globalOptions).join('\n'),
    GLOBALS: globalOptions.map(option => `complete -c media${optionFlags(option)}`).join('\n'),
    COMMANDS: commands.flatMap(commandLines).join('\n'),
    EXTENSIONS: mediaExtensions.join('|'),
  });
}

/** The subcommands of a command, for the function that determines which one is being typed. */
function parentCase({path, commands}: CommandNode): string {
  return `        case ${quoted(path.join(' '))}\n            printf '%s\\n' ${commands.map(nameOf).join(' ')}`;
}

/** The options with a value, for the same function. */
function valueCases(commands: readonly CommandNode[], globalOptions: readonly OptionNode[]): string[] {
  const namesOf = (options: readonly OptionNode[]) =>
    options.filter(({value}) => value !== undefined).flatMap(({names}) => names);
  const own = commands
    .filter(({path, options}) => path.length > 0 && namesOf(options).length > 0)
    .map(({path, options}) => [path.join(' '), namesOf(options)] as const);
  return [
    `    contains -- $argv[2] ${namesOf(globalOptions).join(' ')}; and return 0`,
    '    switch $argv[1]',
    ...own.map(
      ([path, names]) => `        case ${quoted(path)}\n            contains -- $argv[2] ${names.join(' ')}`,
    ),
    "        case '*'\n            return 1\n    end",
  ];
}

function commandLines(command: CommandNode): string[] {
  const path = command.path.join(' ');
  const here = `complete -c media -n ${quoted(`__media_is ${quotedInside(path)}`)}`;
  const fixed = command.arguments.filter(({variadic}) => !variadic).length;
  return [
    ...command.commands.map(
      child =>
        `complete -c media -n ${quoted(`__media_at ${quotedInside(path)} 1`)} -a ${nameOf(child)} -d ${quoted(child.description)}`,
    ),
    ...command.options.map(option => `${here}${optionFlags(option)}`),
    ...command.arguments.flatMap(({values, variadic}, index) => {
      const candidates = candidatesOf(values);
      if (candidates === undefined) return [];
      const place = variadic
        ? `__media_from ${quotedInside(path)} ${fixed + 1}`
        : `__media_at ${quotedInside(path)} ${index + 1}`;
      return [`complete -c media -n ${quoted(place)}${candidates}`];
    }),
  ];
}

function optionFlags({names, description, value}: OptionNode): string {
  const flags = names
    .map(name => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`))
    .join('');
  const taken =
    value === undefined ? '' : value.values.kind === 'none' ? ' -x' : ` -x${candidatesOf(value.values)}`;
  return `${flags}${taken} -d ${quoted(description)}`;
}

function candidatesOf(values: Values): string | undefined {
  switch (values.kind) {
    case 'words':
      return ` -a ${quoted(values.words.join(' '))}`;
    case 'none':
      return undefined;
    default:
      return ` -a '(__media_${values.kind}s)'`;
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** Quoted within a command that is itself quoted with single quotes. */
function quotedInside(text: string): string {
  return `"${text}"`;
}
