import type {CommandNode, CompletionData, OptionNode} from './command-tree.ts';
import {fillIn} from './fill-in.ts';
import {allCommands, argumentKinds, kindOf, nameOf} from './walk-tree.ts';

/** The completion script for PowerShell: the template with a table of all commands. */
export function powershellCompletion(
  {program, globalOptions, mediaExtensions}: CompletionData,
  template: string,
): string {
  return fillIn(template, {
    GLOBALS: optionTable(globalOptions, '        '),
    COMMANDS: allCommands(program).map(commandEntry).join('\n'),
    EXTENSIONS: mediaExtensions.join('|'),
  });
}

function commandEntry(command: CommandNode): string {
  const children = command.commands.map(
    child => `                ${quoted(nameOf(child))} = ${quoted(child.description)}\n`,
  );
  const {fixed, rest = 'none'} = argumentKinds(command);
  return `        ${quoted(command.path.join(' '))} = @{
            Commands = [ordered]@{
${children.join('')}            }
            Options = @(
${optionTable(command.options, '                ')}
            )
            Arguments = @(${fixed.map(quoted).join(', ')})
            Rest = ${quoted(rest)}
        }`;
}

/** An entry for each name, as a list: in a PowerShell hash table, the keys -f and -F would be the same. */
function optionTable(options: readonly OptionNode[], indent: string): string {
  return options
    .flatMap(({names, description, value}) =>
      names.map(name => {
        const takes = value === undefined ? '' : kindOf(value.values);
        return `${indent}@{ Name = ${quoted(name)}; Takes = ${quoted(takes)}; Tip = ${quoted(description)} }`;
      }),
    )
    .join('\n');
}

/** PowerShell also accepts typographic quotes as quotes; doubled, they stand for themselves. */
function quoted(text: string): string {
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
}
