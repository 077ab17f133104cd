import {statSync} from 'node:fs';
import type {Command, CommanderError} from 'commander';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {shellWord} from '../lib/shell.ts';
import type {GlobalOptions} from '../settings/hint-options.ts';
import {hintOptions, loginCommandFor} from '../settings/hint-options.ts';

/** Turns commander's error into one sentence, with a hint what to type instead. */
export function usageError(
  error: CommanderError,
  argv: readonly string[],
  program: Command,
  host: Host,
): MediaError {
  const typed = new TypedLine(argv, program, host);
  const pattern = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s;
  // The value of an unknown option may be anything, for example a key.
  const text = error.message.replace(/^(error: unknown option '(?:--[^'=]*(?==)|-k)).*'/s, "$1'");
  const [, sentence = '', suggestion] = pattern.exec(text) ?? [];
  const [, word = ''] = /unknown (?:command|option) '(.*)'$/s.exec(sentence) ?? [];
  if (error.code === 'commander.unknownOption' && isKeyOption(word)) return noKeyOption(typed);
  if (error.code === 'commander.excessArguments' && typed.command.name() === 'login')
    return noLoginArgument(typed);
  const hint =
    (error.code === 'commander.unknownCommand' ? typed.meantCommand(word, suggestion) : undefined) ??
    (error.code === 'commander.unknownOption' ? typed.meantUpload() : undefined) ??
    suggestion ??
    `For help, run: ${typed.fullName} --help`;
  return new MediaError(
    'usage',
    `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.?$/, '.')}`,
    // No cause: --verbose would print it, and it quotes the command line.
    {hint},
  );
}

/** Whether users may expect this option to take a key. */
function isKeyOption(word: string): boolean {
  return /^(-k|--(api|auth|access|bearer)?-?(key|token)|--(secret|password|bearer))$/.test(word);
}

function noKeyOption({host, given}: TypedLine): MediaError {
  const hint = host.env['MEDIA_API_KEY']
    ? 'Leave it out: the key in MEDIA_API_KEY is used.'
    : `Set MEDIA_API_KEY, or store the key: ${loginCommandFor(host, given)}`;
  return new MediaError(
    'usage',
    'No option or argument takes a key, because other users can read command lines.',
    {
      hint,
    },
  );
}

/** The argument is probably a key or a base URL. */
function noLoginArgument(typed: TypedLine): MediaError {
  const {host, argv, given} = typed;
  const url = argv.find(word => /^https?:\/\//.test(word) && URL.canParse(word));
  return url === undefined
    ? noKeyOption(typed)
    : new MediaError('usage', 'media login takes no arguments.', {
        hint: `Set the service with --base-url: ${loginCommandFor(host, given)} --base-url ${shellWord(url)}`,
      });
}

/** A longer command is not suggested. */
const longestHint = 300;

/** The command line as it was typed, and what the user may have meant. */
class TypedLine {
  readonly argv: readonly string[];
  readonly host: Host;
  readonly #program: Command;

  constructor(argv: readonly string[], program: Command, host: Host) {
    this.argv = argv;
    this.host = host;
    this.#program = program;
  }

  /** The options that name the profile and the service. */
  get given(): string {
    return hintOptions(this.host, this.#program.opts<GlobalOptions>());
  }

  /** The command that the words name, as far as they match. */
  get command(): Command {
    let found = this.#program;
    for (const word of this.#isHelp ? this.argv.slice(1) : this.argv) found = childOf(found, word) ?? found;
    return found;
  }

  get #isHelp(): boolean {
    return this.argv[0] === 'help';
  }

  get fullName(): string {
    const names = [];
    for (let command: Command | null = this.command; command !== null; command = command.parent)
      names.unshift(command.name());
    return names.join(' ');
  }

  /** The command line with the mistyped word corrected, or with `upload` before what looks like an input. */
  meantCommand(word: string, suggestion: string | undefined): string | undefined {
    const right = /^Did you mean ([a-z]+)\?$/.exec(suggestion ?? '')?.[1];
    const kind = kindOf(word, this.host);
    if (
      !this.#isHelp &&
      this.command === this.#program &&
      (kind !== 'missing' || (right === undefined && looksLikeInput(word)))
    )
      return this.meantUpload(kind === 'directory');
    const meant = right === undefined ? undefined : childOf(this.command, right);
    if (meant === undefined) return undefined;
    const words = this.argv.map(typed => (typed === word ? meant.name() : typed));
    return this.#pasteable('Did you mean', meant, words) ?? `Did you mean: ${this.fullName} ${meant.name()}`;
  }

  /** The command line with `upload` in front, if it names no command and is valid with `upload`. */
  meantUpload(isDirectory = false): string | undefined {
    if (this.#isHelp || this.command !== this.#program) return undefined;
    const upload = childOf(this.#program, 'upload');
    if (upload === undefined) return undefined;
    const recursive = isDirectory && !this.argv.some(word => /^(-r|--recursive)$/.test(word)) ? ['-r'] : [];
    return this.#pasteable('To upload', upload, ['upload', ...recursive, ...this.argv]);
  }

  /** Undefined with unknown options: their values may be keys, which must not be shown. */
  #pasteable(introduction: string, command: Command, words: readonly string[]): string | undefined {
    const known = [...command.options, ...this.#program.options].flatMap(({long, short}) => [long, short]);
    const options = words.filter(word => /^-./.test(word)).map(word => word.replace(/^(--[^=]*)=.*/s, '$1'));
    if (options.some(option => !known.includes(option))) return undefined;
    const line = `${introduction}: media ${words.map(shellWord).join(' ')}`;
    return line.length <= longestHint ? line : undefined;
  }
}

function childOf(command: Command, name: string): Command | undefined {
  return command.commands.find(child => child.name() === name);
}

function kindOf(word: string, host: Host): 'file' | 'directory' | 'missing' {
  try {
    return statSync(typedPath(host.cwd(), word)).isDirectory() ? 'directory' : 'file';
  } catch {
    return 'missing';
  }
}

/** Whether a word has an extension, a slash or a pattern, or is `-`. */
function looksLikeInput(word: string): boolean {
  return word === '-' || /[*?[\]/\\]|\.[a-z\d]{2,5}$/i.test(word);
}
