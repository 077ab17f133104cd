import {Command, Help, type Option} from 'commander';
import {collect} from './values.ts';

type Items = readonly (readonly [name: string, meaning: string])[];

/** A command whose help ends with lists of names and with examples. */
export class HelpCommand extends Command {
  readonly helpLists: [heading: string, items: Items][] = [];
  exampleLines: readonly string[] = [];
  /** The options that brief help lists; undefined for all of a subcommand. */
  briefOptions: readonly string[] | undefined;

  /** Adds a list to the help, unless it is brief. */
  helpList(heading: string, items: Items): this {
    this.helpLists.push([heading, items]);
    return this;
  }

  /** Ends the help with examples; brief help has the first two. */
  examples(lines: readonly string[], briefOptions?: readonly string[]): this {
    this.exampleLines = lines;
    this.briefOptions = briefOptions;
    return this;
  }
}

/** The help of `--help`: commander's own with possible values, defaults, and a line with the options of the program. */
export const helpFormat: Partial<Help> = {
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

/** The help of `-h`: one screen of what most people need. */
export const briefHelpFormat: Partial<Help> = {...helpFormat, formatHelp: briefHelp};

/** Commander's own help; for a subcommand without empty lines between groups of options, to be short. */
function wholeHelp(command: HelpCommand, help: Help): string {
  let text = Help.prototype.formatHelp.call(help, command, help);
  let root: Command = command;
  while (root.parent !== null) root = root.parent;
  if (root !== command) {
    const names = root.options.filter(({hidden}) => !hidden).map(({long}) => long);
    const inherited = `Options of every command, see ${root.name()} --help: ${names.join(' ')}`;
    text = text.replace(/(?<=\n {2}[^\n]*)\n\n(?=\S[^\n]*:\n {2}-)/g, '\n');
    text += `\n${help.boxWrap(inherited, help.helpWidth ?? 80)}\n`;
  }
  const lists = command.helpLists.map(([heading, items]) => listSection(help, heading, items));
  return text + lists.join('') + exampleSection(command.exampleLines);
}

/** What a command does, how it is used, its subcommands, the most important options, and two examples. */
function briefHelp(command: HelpCommand, help: Help): string {
  const {briefOptions, exampleLines} = command;
  const subcommands = command.commands
    .filter(child => child.name() !== 'help')
    .map(child => [child.name(), child.description()] as const);
  const options = command.options
    .filter(({long = '', hidden}) => briefOptions?.includes(long) ?? (command.parent !== null && !hidden))
    .map(option => [help.optionTerm(option), help.optionDescription(option)] as const);
  const description = help.boxWrap(command.description(), help.helpWidth ?? 80);
  const usage = help.commandUsage(command);
  const lists = listSection(help, 'Commands:', subcommands) + listSection(help, 'Options:', options);
  const examples = exampleSection(exampleLines.slice(0, 2));
  const [name] = usage.split(/ [[<]/);
  return `${description}\n\nUsage: ${usage}\n${lists}${examples}\nFor all options, see: ${name} --help\n`;
}

function exampleSection(lines: readonly string[]): string {
  return ['\nExamples:\n', ...lines.map(line => `  $ ${line}\n`)].join('');
}

function listSection(help: Help, heading: string, items: Items): string {
  if (items.length === 0) return '';
  const width = Math.max(...items.map(([name]) => name.length));
  const lines = items.map(([name, meaning]) => `${help.formatItem(name, width, meaning, help)}\n`);
  return ['\n', heading, '\n', ...lines].join('');
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
  const {text, variable, default: defaultText, isRepeatable} = optionFacts(option);
  const facts = [
    variable,
    option.argChoices?.join(', '),
    isRepeatable && 'repeatable',
    (isWhole || option.argChoices === undefined) && defaultText && `default: ${defaultText}`,
  ];
  const texts = facts.filter(Boolean);
  return texts.length === 0 ? text : `${text} (${texts.join('; ')})`;
}
