import {type Command, Option} from 'commander';
import type {EndSignal, Host} from '../../host.ts';
import {commandLine} from '../hints/command-line.ts';
import {Report} from '../output/report.ts';
import type {Stdout} from '../output/stdout.ts';
import {mayColor} from '../output/terminal.ts';
import type {GlobalOptions} from '../settings/hint-options.ts';
import {HelpCommand} from './help-format.ts';
import type {ValueParser} from './values.ts';

/** How a run ends: an exit status, or the signal that ends the process. */
export type ExitStatus = number | EndSignal;

interface TypedOption {
  /** Its name as an attribute, such as `baseUrl`. */
  attribute: string;
  /** The option, and its value if it has one. */
  words: string[];
}

interface Run {
  host: Host;
  stdout: Stdout;
  /** What was typed after `media`. */
  argv: readonly string[];
  /** Ends the run at once, without waiting for anything. */
  abandon: (status: ExitStatus) => void;
}

/** One run of the program, before its command line is read. */
export interface Cli extends Run {
  /** The options in `argv`, in the order in which they were read. */
  optionsRead: TypedOption[];
  /** What commander printed: help or the version, or errors, which run() rewords. */
  output: string;
  /** Set by the command that ran. */
  status: ExitStatus;
}

/** One run after its command line is read: what every command gets besides its own options. */
export interface Invocation extends Run {
  report: Report;
  globals: GlobalOptions;
  /** The options in `argv`, except those named in `omitted`, for hints about the same service and profile. */
  optionWords: (omitted: ReadonlySet<string>) => string[];
}

/** Adds each option of a command and its subcommands to `optionsRead` while commander reads it. */
export function noteOptions(command: Command, optionsRead: TypedOption[]): void {
  for (const option of command.options) {
    const name = option.long ?? option.short ?? '';
    command.on(`option:${option.name()}`, (value?: string) =>
      optionsRead.push({attribute: option.attributeName(), words: value == null ? [name] : [name, value]}),
    );
  }
  for (const child of command.commands) noteOptions(child, optionsRead);
}

/** What the command that was found gets. `--ndjson` of `media serve` is its log; of other commands, their results. */
function invocationOf({optionsRead, output, status, ...run}: Cli, command: Command): Invocation {
  const options = command.optsWithGlobals<
    GlobalOptions & {json?: boolean; ndjson?: boolean; format?: string}
  >();
  const isNdjson = options.ndjson === true || options.format === 'ndjson';
  const isJson = options.json === true || options.format === 'json';
  const json = isNdjson ? (command.name() === 'serve' ? 'log' : 'ndjson') : isJson ? 'json' : undefined;
  return {
    ...run,
    report: reportFor(run.host, options, json),
    globals: options,
    optionWords: omitted =>
      optionsRead.filter(({attribute}) => !omitted.has(attribute)).flatMap(({words}) => words),
  };
}

/** The report on standard error. On a terminal it has no JSON lines, since people read it. */
export function reportFor(host: Host, options: GlobalOptions, json: Report['json']): Report {
  return new Report({
    stream: host.stderr,
    json: host.stderr.isTTY === true ? undefined : json,
    color: mayColor(host.stderr, host.env),
    level: options.verbose === true ? 'verbose' : options.quiet === true ? 'quiet' : 'default',
    inWords: error => error.inWordsOf(commandLine()),
  });
}

/** `received` resolves with the first signal that ends the program, until `ignore`; a second one ends it at once. */
export function endSignal({host, abandon}: Pick<Invocation, 'host' | 'abandon'>) {
  let ignore = () => {};
  const received = new Promise<EndSignal>(resolve => {
    let first: EndSignal | undefined;
    ignore = host.onEndSignal(signal => {
      if (first !== undefined) abandon(signal);
      first ??= signal;
      resolve(first);
    });
  });
  return {received, ignore};
}

/** Notes what the program waits for, if standard input is a terminal; else a command would seem to hang. */
export function announceTyping(what: string, {host, report}: Pick<Invocation, 'host' | 'report'>): void {
  const end = host.platform === 'win32' ? 'Ctrl-Z and Enter' : 'Ctrl-D';
  if (host.stdin.isTTY) report.note(`Waiting for ${what}, on this terminal. End with ${end}.`);
}

/** A command of this program, whose action gets an Invocation. */
export class CliCommand extends HelpCommand {
  readonly #cli: Cli;

  constructor(name: string, cli: Cli) {
    super(name);
    this.#cli = cli;
  }

  /** Called by commander's command(), so that subcommands are of this class. */
  override createCommand(name = ''): CliCommand {
    return new CliCommand(name, this.#cli);
  }

  addOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** Adds an option that is undefined unless it is given; help shows `shown` as what holds then. */
  optionWithDefault(flags: string, meaning: string, shown: string, parse?: ValueParser<unknown>): this {
    const option = new Option(flags, meaning).default(undefined, shown);
    return this.addOption(parse === undefined ? option : option.argParser(parse));
  }

  /** Refuses a command line that has two of these options. */
  exclusive(...names: string[]): this {
    const options = this.options.filter(({long}) => names.includes(long ?? ''));
    const attributes = options.map(option => option.attributeName());
    for (const [at, option] of options.entries()) option.conflicts(attributes.toSpliced(at, 1));
    return this;
  }

  /** What the command does with its options and its words. It succeeds unless it resolves to another exit status. */
  runs<Options, Words extends unknown[]>(
    run: (options: Options, invocation: Invocation, ...words: Words) => Promise<ExitStatus> | Promise<void>,
  ): this {
    // Commander passes the words of the command, its options, and the command itself.
    return this.action(async (...parameters: unknown[]) => {
      const [options, command] = parameters.splice(-2) as [Options, Command];
      const status = await run(options, invocationOf(this.#cli, command), ...(parameters as Words));
      this.#cli.status = status ?? 0;
    });
  }
}
