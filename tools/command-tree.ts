import {type Argument, type Command, Help, type Option} from 'commander';
import {helpTopics} from '../src/cli/commands/help-topics.ts';
import {describeOption, type HelpCommand, optionFacts} from '../src/cli/session/help-format.ts';
import type {ValueParser} from '../src/cli/session/values.ts';
import {settingNames} from '../src/cli/settings/setting-table.ts';
import {omitUndefined} from '../src/lib/object.ts';

/** What a value on the command line can be completed to. */
export type Values =
  | {kind: 'none' | 'file' | 'directory' | 'media' | 'profile'}
  | {kind: 'words'; words: readonly string[]};

/** A command as the program declares it: all that completions, the manual page and `media help --json` say of it. */
export interface CommandNode {
  /** The words after `media`; none for the program itself. */
  path: readonly string[];
  description: string;
  /** The usage line of its help: the words and the placeholders. */
  usage: string;
  /** Its own options. */
  options: readonly OptionNode[];
  arguments: readonly ArgumentNode[];
  commands: readonly CommandNode[];
  /** Command lines as the help shows them, without the prompt. */
  examples: readonly string[];
}

export interface OptionNode {
  /** -c and --concurrency; at least one. */
  names: readonly string[];
  /** The names and the placeholder, as help shows them. */
  term: string;
  description: string;
  /** The heading in the help; `Options` for options without a group. */
  group: string;
  /** The description with choices and default. */
  fullDescription: string;
  /** Undefined for a flag. */
  value?: {placeholder: string; values: Values; type: string; takes?: string; choices?: readonly string[]};
  default?: string;
  variable?: string;
  /** The setting of a profile that it takes precedence over. */
  setting?: string;
  /** The names of options that cannot be given with it. */
  conflicts: readonly string[];
  repeatable: boolean;
  required: boolean;
}

export interface ArgumentNode {
  name: string;
  description: string;
  required: boolean;
  variadic: boolean;
  values: Values;
  choices?: readonly string[];
}

/** The data that completions are generated from. */
export interface CompletionData {
  program: CommandNode;
  /** Options that commands take before their names or after. */
  globalOptions: readonly OptionNode[];
  /** Extensions of images and videos: lower case, without the dot. */
  mediaExtensions: readonly string[];
}

/** Values that the declarations do not define, by an option's long name, or by a command's words and its argument's name. */
function knownValues(commands: readonly string[], mediaTypes: readonly string[]): Record<string, Values> {
  return {
    'help command': {kind: 'words', words: [...new Set([...commands, ...Object.keys(helpTopics)])]},
    '--profile': {kind: 'profile'},
    '--base-url': {kind: 'words', words: ['embedded']},
    '--shard': {kind: 'words', words: ['auto']},
    '--content-type': {kind: 'words', words: mediaTypes},
    '--uploaded-from': {kind: 'file'},
    'upload input': {kind: 'media'},
    'rewrite input': {kind: 'file'},
    'journal resolve path': {kind: 'file'},
    'journal forget path': {kind: 'file'},
    'config get name': {kind: 'words', words: settingNames},
    'config set name': {kind: 'words', words: settingNames},
    'config set value': {kind: 'file'},
    'config unset name': {kind: 'words', words: settingNames},
  };
}

const placeholders: Record<string, Values> = {
  file: {kind: 'file'},
  directory: {kind: 'directory'},
};

/** Reads the command tree as plain data, without hidden commands. */
export function describeProgram(
  program: Command,
  media: {extensions: readonly string[]; types: readonly string[]},
): CompletionData {
  const names = program.commands.map(command => command.name());
  const reader = new TreeReader(knownValues(names, media.types), program);
  return {
    program: reader.command(program, []),
    globalOptions: reader.globals,
    mediaExtensions: media.extensions,
  };
}

/** Whether every command has this option for itself, so that it is not a global option. */
export function isOfEach({names}: OptionNode): boolean {
  return names.includes('--help') || names.includes('--version');
}

/** Reads commander's declarations of the commands of a program. */
class TreeReader {
  readonly #known: Record<string, Values>;
  readonly #help = new Help();
  readonly globals: readonly OptionNode[];

  constructor(known: Record<string, Values>, program: Command) {
    this.#known = known;
    this.globals = this.#options(program).filter(option => !isOfEach(option));
  }

  command(command: Command, path: readonly string[]): CommandNode {
    const children = this.#help.visibleCommands(command);
    const names = children.map(child => child.name());
    return {
      path,
      description: command.description(),
      usage: ['media', ...path, command.usage()].join(' '),
      options: this.#options(command).filter(option => path.length > 0 || isOfEach(option)),
      arguments: command.registeredArguments.map(argument => this.#argument(argument, path)),
      commands: children.map(child =>
        child.name() === 'help' && path.length > 0
          ? helpNode(child, path, names)
          : this.command(child, [...path, child.name()]),
      ),
      examples: (command as HelpCommand).exampleLines,
    };
  }

  #options(command: Command): OptionNode[] {
    return this.#help.visibleOptions(command).map(option => this.#option(option, command));
  }

  #option(option: Option, command: Command): OptionNode {
    const placeholder = /<(.+?)>/.exec(option.flags)?.[1];
    const {variable, default: defaultText, isRepeatable} = optionFacts(option);
    const setting = settingNames.find(name => `--${name}` === option.long);
    return {
      names: [option.short, option.long].filter(name => name !== undefined),
      term: this.#help.optionTerm(option),
      description: option.description,
      group: option.helpGroupHeading?.replace(/:$/, '') ?? 'Options',
      fullDescription: describeOption(option, true),
      repeatable: isRepeatable,
      required: option.mandatory,
      conflicts: conflictsOf(option, command),
      ...omitUndefined({default: defaultText, variable, setting}),
      ...(placeholder !== undefined && {value: this.#value(option, placeholder)}),
    };
  }

  #value(option: Option, placeholder: string): NonNullable<OptionNode['value']> {
    const {type, takes} = (option.parseArg ?? {}) as Partial<ValueParser<unknown>>;
    return {
      placeholder,
      values: this.#values(option.long ?? '', placeholder, option.argChoices),
      type: type ?? (['file', 'directory', 'url'].includes(placeholder) ? placeholder : 'text'),
      ...omitUndefined({takes, choices: option.argChoices}),
    };
  }

  #argument(argument: Argument, path: readonly string[]): ArgumentNode {
    const key = [...path, argument.name()].join(' ');
    return {
      name: argument.name(),
      description: argument.description,
      required: argument.required,
      variadic: argument.variadic,
      ...omitUndefined({choices: argument.argChoices}),
      values: this.#values(key, argument.name(), argument.argChoices),
    };
  }

  #values(key: string, placeholder: string, choices: readonly string[] | undefined): Values {
    if (choices !== undefined) return {kind: 'words', words: choices};
    return this.#known[key] ?? placeholders[placeholder] ?? {kind: 'none'};
  }
}

/** The names of the options that commander refuses together with this one. */
function conflictsOf(option: Option, command: Command): string[] {
  const {conflictsWith} = option as unknown as {conflictsWith: readonly string[]};
  return command.options
    .filter(other => conflictsWith.includes(other.attributeName()))
    .map(({long, short}) => long ?? short ?? '');
}

/** `help`, which commander adds to a command with subcommands. */
function helpNode(help: Command, path: readonly string[], commands: readonly string[]): CommandNode {
  const values = {kind: 'words', words: commands} as const;
  return {
    path: [...path, help.name()],
    description: help.description(),
    usage: ['media', ...path, help.name(), help.usage()].join(' '),
    options: [],
    arguments: [{name: 'command', description: '', required: false, variadic: false, values}],
    commands: [],
    examples: [],
  };
}
