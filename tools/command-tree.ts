import type {EventEmitter} from 'node:events';
import type {Argument, Command, Help, Option} from 'commander';
import {helpTopics} from '../src/cli/help-topics.ts';
import {collect} from '../src/cli/values.ts';
import {settingNames} from '../src/settings/setting-table.ts';

/** What a value on the command line can be completed to. */
export type Values =
  | {kind: 'none' | 'file' | 'directory' | 'media' | 'profile'}
  | {kind: 'words'; words: readonly string[]};

/** A command as the program declares it, with everything that completions and the manual page need. */
export interface CommandNode {
  /** The words after `media`; none for the program itself. */
  path: readonly string[];
  description: string;
  /** The usage line of its help: the words and the placeholders. */
  usage: string;
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
  value?: {placeholder: string; values: Values};
  repeatable: boolean;
}

export interface ArgumentNode {
  name: string;
  variadic: boolean;
  values: Values;
}

/** The data that completions are generated from. */
export interface CompletionData {
  program: CommandNode;
  /** Options that every command takes, before its name or after. */
  globalOptions: readonly OptionNode[];
  /** Extensions of images and videos: lower case, without the dot. */
  mediaExtensions: readonly string[];
}

/** Values that the declarations do not define, by an option's long name, or by a command's words and its argument's name. */
function knownValues(mediaTypes: readonly string[]): Record<string, Values> {
  return {
    '--profile': {kind: 'profile'},
    '--base-url': {kind: 'words', words: ['embedded']},
    '--shard': {kind: 'words', words: ['auto']},
    '--content-type': {kind: 'words', words: mediaTypes},
    'upload input': {kind: 'media'},
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
  const reader = new TreeReader(knownValues(media.types), program.createHelp());
  const root = reader.command(program, []);
  const ownOfEach = new Set(['-h', '--help', '--version']);
  return {
    program: root,
    globalOptions: root.options.filter(({names}) => !names.some(name => ownOfEach.has(name))),
    mediaExtensions: media.extensions,
  };
}

class TreeReader {
  readonly #known: Record<string, Values>;
  readonly #help: Help;

  constructor(known: Record<string, Values>, help: Help) {
    this.#known = known;
    this.#help = help;
  }

  command(command: Command, path: readonly string[]): CommandNode {
    const children = this.#help.visibleCommands(command);
    const names = children.map(child => child.name());
    return {
      path,
      description: command.description(),
      usage: ['media', ...path, command.usage()].join(' '),
      options: this.#help.visibleOptions(command).map(option => this.#option(option)),
      arguments: command.registeredArguments.map(argument => this.#argument(argument, path)),
      commands: children.map(child =>
        child.name() === 'help'
          ? helpNode(
              child,
              path,
              path.length === 0 ? [...new Set([...names, ...Object.keys(helpTopics)])] : names,
            )
          : this.command(child, [...path, child.name()]),
      ),
      examples: examplesOf(command),
    };
  }

  #option(option: Option): OptionNode {
    const placeholder = /<(.+?)>/.exec(option.flags)?.[1];
    return {
      names: [option.short, option.long].filter(name => name !== undefined),
      term: this.#help.optionTerm(option),
      description: option.description,
      group: option.helpGroupHeading?.replace(/:$/, '') ?? 'Options',
      fullDescription: this.#help.optionDescription(option),
      repeatable: option.parseArg === (collect as Option['parseArg']),
      ...(placeholder === undefined
        ? {}
        : {value: {placeholder, values: this.#values(option.long ?? '', placeholder, option.argChoices)}}),
    };
  }

  #argument(argument: Argument, path: readonly string[]): ArgumentNode {
    const key = [...path, argument.name()].join(' ');
    return {
      name: argument.name(),
      variadic: argument.variadic,
      values: this.#values(key, argument.name(), argument.argChoices),
    };
  }

  #values(key: string, placeholder: string, choices: readonly string[] | undefined): Values {
    if (choices !== undefined) return {kind: 'words', words: choices};
    return this.#known[key] ?? placeholders[placeholder] ?? {kind: 'none'};
  }
}

/** `help`, which commander adds to every command with subcommands. */
function helpNode(help: Command, path: readonly string[], commands: readonly string[]): CommandNode {
  return {
    path: [...path, help.name()],
    description: help.description(),
    usage: ['media', ...path, help.name(), help.usage()].join(' '),
    options: [],
    arguments: [{name: 'command', variadic: false, values: {kind: 'words', words: commands}}],
    commands: [],
    examples: [],
  };
}

/** The examples at the end of the help, which commander provides through an event. */
function examplesOf(command: Command): string[] {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  (command as unknown as EventEmitter).emit('afterHelp', {error: false, command, write});
  return [...text.matchAll(/^ {2}\$ (.*)$/gm)].map(match => match[1] ?? '');
}
