import {helpTopics, schemaSubjects} from '../src/cli/commands/help-topics.ts';
import {type ErrorCode, hasTrait} from '../src/errors.ts';
import {omitUndefined} from '../src/lib/object.ts';
import {type CommandNode, type CompletionData, isOfEach, type OptionNode} from './command-tree.ts';
import {environment, errorCodes, exitStatuses, formats, type Row, settingsOf} from './reference.ts';
import {plain} from './topics.ts';
import {nameOf} from './walk-tree.ts';

/** What `media help --json` prints, except the version: the command tree and the reference tables as plain data. */
export function helpJson(data: CompletionData): object {
  const {program, globalOptions} = data;
  return {
    ...commandJson(program),
    options: [...globalOptions, ...program.options].map(optionJson),
    exitStatuses: rows(exitStatuses, ['status', 'meaning']),
    errorCodes: rows(errorCodes, ['code', 'exitStatus', 'meaning', 'hint']).map(row => ({
      ...row,
      exitStatus: Number(row['exitStatus']),
      retry: row['code'] === 'not_tried' || hasTrait(row['code'] as ErrorCode, 'passing'),
    })),
    formats: rows(formats, ['option', 'prints']),
    settings: rows(settingsOf(data), ['name', 'option', 'variable', 'meaning']),
    variables: rows(environment, ['names', 'meaning']),
    schemas: Object.entries(schemaSubjects).map(([name, subject]) => ({name, subject})),
    topics: Object.entries(helpTopics).map(([name, about]) => ({name, about})),
  };
}

function commandJson(command: CommandNode): object {
  const {description, usage, options, commands, examples} = command;
  return {
    name: nameOf(command),
    description,
    usage,
    arguments: command.arguments.map(({name, description: about, required, variadic, choices}) =>
      omitUndefined({name, description: about, required, variadic, choices}),
    ),
    options: options.filter(option => !isOfEach(option)).map(optionJson),
    commands: commands
      .filter(child => nameOf(child) !== 'help' || command.path.length === 0)
      .map(commandJson),
    examples,
  };
}

function optionJson(option: OptionNode): object {
  const {names, description, group, value, variable, setting, conflicts, repeatable, required} = option;
  return {
    names,
    description,
    group,
    type: value?.type ?? 'flag',
    ...omitUndefined({
      placeholder: value?.placeholder,
      takes: value?.takes,
      choices: value?.choices,
      default: option.default,
      variable,
      setting,
    }),
    ...(conflicts.length > 0 && {conflicts}),
    ...(repeatable && {repeatable}),
    ...(required && {required}),
  };
}

/** Rows of a reference table as objects, without the cells that are empty. */
function rows(table: readonly Row[], fields: readonly string[]): Record<string, string>[] {
  return table.map(row =>
    Object.fromEntries(
      fields.map((field, index) => [field, plain(row[index] ?? '')]).filter(([, text]) => text !== ''),
    ),
  );
}
