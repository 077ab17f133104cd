import {type Command, Help, type Option} from 'commander';
import {omitUndefined} from '../../lib/object.ts';
import {collect} from './values.ts';

interface HelpFormat extends Partial<Help> {
  /** For `-h`, which prints one screen of what most people need; `--help` prints all. */
  isBrief: boolean;
}

/** The help of `--help`: commander's own with possible values, defaults, and a line with the options of the program. */
export const helpFormat: HelpFormat = {
  isBrief: false,
  formatHelp: wholeHelp,
  visibleOptions(command) {
    const options = Help.prototype.visibleOptions.call(this, command);
    return command.parent === null ? options : options.filter(({long}) => long !== '--help');
  },
  subcommandTerm: command => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
  optionDescription: option => describeOption(option),
  argumentDescription: ({description, argChoices}) =>
    argChoices === undefined ? description : `${description} (${argChoices.join(', ')})`,
};

/** The help of `-h`. */
export const briefHelpFormat: HelpFormat = {...helpFormat, isBrief: true, formatHelp: briefHelp};

/** Commander's own help; for a subcommand without empty lines between groups of options, to be short. */
function wholeHelp(command: Command, help: Help): string {
  const text = Help.prototype.formatHelp.call(help, command, help);
  let root = command;
  while (root.parent !== null) root = root.parent;
  if (root === command) return text;
  const names = root.options.filter(({hidden}) => !hidden).map(({long}) => long);
  const inherited = `Options of every command, see ${root.name()} --help: ${names.join(' ')}`;
  const groups = text.replace(/(?<=\n {2}[^\n]*)\n\n(?=\S[^\n]*:\n {2}-)/g, '\n');
  return `${groups}\n${help.boxWrap(inherited, help.helpWidth ?? 80)}\n`;
}

/** What a command does, how it is used, and its subcommands; exampleText() adds options and examples to it. */
function briefHelp(command: Command, help: Help): string {
  const subcommands = command.commands
    .filter(child => child.name() !== 'help')
    .map(child => [child.name(), child.description()] as const);
  const description = help.boxWrap(command.description(), help.helpWidth ?? 80);
  const list = subcommands.length === 0 ? '' : `${listSection(help, 'Commands:', subcommands)}\n`;
  return `${description}\n\nUsage: ${help.commandUsage(command)}\n${list}`;
}

/** The end of a command's help: all examples; in brief help two, after its options or only those named in `common`. */
export function exampleText(command: Command, lines: readonly string[], common?: readonly string[]): string {
  if (!isBrief(command)) return exampleList(lines);
  const help = helperFor(command);
  const options = command.options
    .filter(({long = '', hidden}) => common?.includes(long) ?? (command.parent !== null && !hidden))
    .map(option => [help.optionTerm(option), help.optionDescription(option)] as const);
  const [name] = help.commandUsage(command).split(/ [[<]/);
  const optionList = options.length === 0 ? '' : `${listSection(help, 'Options:', options)}\n`;
  return `${optionList}${exampleList(lines.slice(0, 2))}\n\nFor all options, see: ${name} --help`;
}

function exampleList(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map(line => `  $ ${line}`)].join('\n');
}

/** A list of names with their meanings, as text after a command's help; empty if the help is brief. */
export function helpList(
  {command}: {command: Command},
  heading: string,
  items: readonly (readonly [string, string])[],
): string {
  return isBrief(command) ? '' : listSection(helperFor(command), heading, items);
}

function listSection(help: Help, heading: string, items: readonly (readonly [string, string])[]): string {
  const width = Math.max(...items.map(([name]) => name.length));
  const lines = items.map(([name, meaning]) => help.formatItem(name, width, meaning, help));
  return ['', heading, ...lines].join('\n');
}

function isBrief(command: Command): boolean {
  return (command.configureHelp() as HelpFormat).isBrief;
}

/** Commander's formatter of a command's help, at the width of its output. */
function helperFor(command: Command): Help {
  const help = command.createHelp();
  const helpWidth = command.configureOutput().getOutHelpWidth?.();
  help.prepareContext({...omitUndefined({helpWidth}), outputHasColors: false});
  return help;
}

/** The description without its variable, the variable, the default in words, and whether values are collected. */
export function optionFacts(option: Option) {
  const {description, defaultValue, defaultValueDescription, required, parseArg} = option;
  // Declarations name the variable at the end of the description.
  const [, text = description, variable] = /^(.*) \((MEDIA_\w+)\)$/.exec(description) ?? [];
  return {
    text,
    variable,
    default:
      defaultValueDescription ?? (required && defaultValue !== undefined ? String(defaultValue) : undefined),
    isRepeatable: parseArg === (collect as Option['parseArg']),
  };
}

/**
 * The description with, in one pair of parentheses, the variable, the possible values and the default. Beside possible
 * values, only the manual page (`isWhole`) has the default: it is the first of them, or a rule that needs more words.
 */
export function describeOption(option: Option, isWhole = false): string {
  const {text, variable, default: shown, isRepeatable} = optionFacts(option);
  const facts = [
    variable,
    option.argChoices?.join(', '),
    isRepeatable && 'repeatable',
    (isWhole || option.argChoices === undefined) && shown && `default: ${shown}`,
  ];
  const texts = facts.filter(Boolean);
  return texts.length === 0 ? text : `${text} (${texts.join('; ')})`;
}
