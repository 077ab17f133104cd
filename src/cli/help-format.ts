import type {Command, Help, Option} from 'commander';
import {defined} from '../lib/object.ts';

/** The description of every `help` command. */
export const helpDescription = 'Print help for a command.';

/** What help shows besides commander's own: the options of every command, possible values and defaults. */
export const helpConfiguration: Partial<Help> = {
  showGlobalOptions: true,
  subcommandTerm: command => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
  optionDescription: describeOption,
};

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
