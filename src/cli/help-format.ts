import type {Command, Help, Option} from 'commander';
import {defined} from '../lib/object.ts';

/** The heading of the options that every command has. */
export const globalHeading = 'Global options:';

/** The description of every `help` command. */
export const helpDescription = 'Print help for a command.';

/** The layout of help: commands before options, options in groups, and the global options last. */
export const helpConfiguration: Partial<Help> = {
  showGlobalOptions: true,
  subcommandTerm: command => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
  optionDescription: describeOption,
  formatHelp,
};

/** The heading of an option in the help of its command. */
export function headingOf(option: Option): string {
  return option.long === '--help' ? globalHeading : (option.helpGroupHeading ?? 'Options:');
}

/** Text after a command's help: a list of names with their meanings. */
export function helpList(
  heading: string,
  items: readonly (readonly [string, string])[],
): (context: {command: Command}) => string {
  return ({command}) => {
    const help = helperFor(command);
    const width = Math.max(...items.map(([name]) => name.length));
    const lines = items.map(([name, meaning]) => help.formatItem(name, width, meaning, help));
    return ['', heading, ...lines].join('\n');
  };
}

function helperFor(command: Command): Help {
  const help = command.createHelp();
  const {getOutHelpWidth, getOutHasColors} = command.configureOutput();
  const helpWidth = getOutHelpWidth?.();
  help.prepareContext({
    ...defined({helpWidth}),
    outputHasColors: getOutHasColors?.() ?? false,
  });
  return help;
}

function formatHelp(command: Command, help: Help): string {
  const width = help.padWidth(command, help);
  const section = (heading: string, items: readonly (readonly [string, string])[]) =>
    help.formatItemList(
      heading,
      items.map(([term, description]) => help.formatItem(term, width, description, help)),
      help,
    );
  const ofOption = (option: Option) => [help.optionTerm(option), help.optionDescription(option)] as const;
  const groups = groupsOf(command, help);
  return [
    `Usage: ${help.commandUsage(command)}`,
    '',
    help.boxWrap(help.commandDescription(command), help.helpWidth ?? 80),
    '',
    ...section(
      'Arguments:',
      help
        .visibleArguments(command)
        .map(argument => [help.argumentTerm(argument), help.argumentDescription(argument)]),
    ),
    ...section(
      'Commands:',
      help
        .visibleCommands(command)
        .map(child => [help.subcommandTerm(child), help.subcommandDescription(child)]),
    ),
    ...[...groups].flatMap(([heading, options]) => section(heading, options.map(ofOption))),
  ].join('\n');
}

/** The options by heading, in the order of their declaration; the global ones come last, ending with --help. */
function groupsOf(command: Command, help: Help): Map<string, Option[]> {
  const all = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const own = all.filter(option => headingOf(option) !== globalHeading);
  const global = all.filter(option => headingOf(option) === globalHeading);
  const groups = new Map<string, Option[]>();
  for (const option of [
    ...own,
    ...global.filter(({long}) => long !== '--help'),
    ...global.filter(({long}) => long === '--help'),
  ]) {
    const heading = headingOf(option);
    groups.set(heading, [...(groups.get(heading) ?? []), option]);
  }
  return groups;
}

/** The description with the possible values and the default. */
function describeOption({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  required,
}: Option): string {
  const shown =
    defaultValueDescription ?? (required && defaultValue !== undefined ? String(defaultValue) : undefined);
  const facts = [argChoices?.join(', '), shown && `default: ${shown}`].filter(Boolean);
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}
