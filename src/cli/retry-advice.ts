import type {Command, Option} from 'commander';
import {type ErrorCode, MediaError} from '../errors.ts';
import {shellPrintf, shellQuoted, shellWord} from '../lib/shell.ts';
import type {Outcome} from '../transfer/outcome.ts';

/** The longest command to suggest; terminals accept lines of at most 4,095 characters. */
const longestCommand = 2000;

/** Failures that may not happen again on the next run. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'dns_unavailable',
  'connection_refused',
  'connect_timeout',
  'connect_failed',
  'outage',
  'proxy_failed',
  'rate_limited',
  'service_unavailable',
  'service_failed',
  'connection_lost',
  'stalled',
  'deadline_exceeded',
  'unexpected_answer',
  'too_many_open_files',
  'source_changed',
  'interrupted',
]);

/** Failures that end a run, and would end the next run too. */
const lasting: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'not_found',
  'journal_failed',
  'journal_unusable',
]);

/** Collects the failed inputs that may succeed on another run, and suggests a command; very many are only counted. */
export class RetryAdvice {
  readonly #typed: TypedCommand;
  #names: Buffer[] = [];
  #isTypeable = true;
  #length = 0;
  #count = 0;
  #others = 0;

  constructor(typed: TypedCommand) {
    this.#typed = typed;
  }

  add(outcome: Outcome): void {
    if (outcome.status !== 'failed' || outcome.isOnce || !mayPass(outcome.error)) {
      this.#others += 1;
      return;
    }
    this.#count += 1;
    if (this.#length > longestCommand) return;
    const {name, nameBytes} = outcome;
    if (nameBytes !== undefined || /\p{Cc}/u.test(name)) this.#isTypeable = false;
    this.#names.push(nameBytes ?? Buffer.from(name));
    this.#length += name.length + 1;
    if (this.#length > longestCommand) this.#names = [];
  }

  /** The suggestion as lines; empty if another run would not help. */
  advice(isRemembered: boolean): string[] {
    if (this.#count === 0) return [];
    const files = this.#count === 1 ? 'the file' : `the ${this.#count} files`;
    const command = !isRemembered && this.#others > 0 ? this.#byName() : this.#same();
    if (command !== undefined && command.length <= longestCommand)
      return [`To retry ${files} that may succeed now:`, `  ${command}`];
    if (isRemembered || this.#others === 0)
      return [`To retry ${files} that may succeed now, run the same command again.`];
    return [
      `${this.#count} files may succeed now, too many to name in one command.`,
      'With --journal FILE, the same command sends only what is missing.',
    ];
  }

  /** The suggestion to continue with a journal after a signal. */
  continuation(): string[] {
    const command = this.#same();
    return command !== undefined && command.length <= longestCommand
      ? ['To continue where this run stopped:', `  ${command}`]
      : ['To continue where this run stopped, run the same command again.'];
  }

  #same(): string | undefined {
    const {argv, isRepeatable} = this.#typed;
    return isRepeatable ? ['media', ...argv.map(shellWord)].join(' ') : undefined;
  }

  #byName(): string | undefined {
    if (this.#names.length === 0) return undefined;
    const command = ['media', 'upload', ...this.#typed.options.map(shellWord)].join(' ');
    return this.#isTypeable
      ? `${command} ${this.#names.map(name => shellQuoted(name.toString())).join(' ')}`
      : `${shellPrintf(this.#names)} | ${command} --files-from -`;
  }
}

/** A file that was not tried may succeed, unless the next run would end for the same reason. */
function mayPass(error: MediaError): boolean {
  if (error.code !== 'not_tried') return passing.has(error.code);
  return !(error.cause instanceof MediaError && lasting.has(error.cause.code));
}

/** How the run was called, for hints about the same service. */
export interface TypedCommand {
  /** All that was typed after `media`. */
  argv: readonly string[];
  /** The options among it, except those that select the inputs. */
  options: readonly string[];
  /** Whether the same command would read the same inputs: a pipe can be read only once. */
  isRepeatable: boolean;
}

/** The options that select and name the inputs. */
const inputOptions = new Set(['recursive', 'all', 'exclude', 'filesFrom', 'shard', 'name', 'clipboard']);

/** The command line that this run was started by. */
export function typedCommand(
  {inputs, filesFrom = []}: {inputs: readonly string[]; filesFrom?: readonly string[]},
  {argv, given}: Pick<TypedCommand, 'argv'> & {given: (omitted: ReadonlySet<string>) => string[]},
): TypedCommand {
  const isRepeatable = !inputs.includes('-') && !filesFrom.some(isStream);
  return {argv, options: given(inputOptions), isRepeatable};
}

function isStream(list: string): boolean {
  return list === '-' || /^\/(dev|proc)\//.test(list);
}

/**
 * The options of a command line as they were typed, for commands in hints about the same service, profile and settings.
 * `omitted` names the attributes (`baseUrl`) of options to leave out.
 */
export function givenOptions(
  argv: readonly string[],
  command: Command,
  omitted: ReadonlySet<string> = new Set(),
): string[] {
  const known = [...command.options, ...(command.parent?.options ?? [])];
  const given: string[] = [];
  const words = argv[Symbol.iterator]();
  for (const word of words) {
    if (word === '--') break;
    if (word.length < 2 || !word.startsWith('-')) continue;
    for (const [option, text] of optionsIn(word, known)) {
      const value = option.required && text.value === undefined ? [words.next().value ?? ''] : [];
      if (!omitted.has(option.attributeName())) given.push(text.typed, ...value);
    }
  }
  return given;
}

/** The options in one word; a value that is not in it is the next word. */
function optionsIn(
  word: string,
  known: readonly Option[],
): [Option, {typed: string; value?: string | undefined}][] {
  if (word.startsWith('--')) {
    const [name = '', value] = word.split(/=(.*)/s, 2);
    const option = known.find(({long}) => long === name);
    return option === undefined ? [] : [[option, {typed: word, value}]];
  }
  const found: [Option, {typed: string; value?: string | undefined}][] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const option = known.find(({short}) => short === name);
    if (option === undefined) break;
    const value = word.slice(at + 1);
    if (option.required && value !== '') return [...found, [option, {typed: `${name}${value}`, value}]];
    found.push([option, {typed: name}]);
  }
  return found;
}
