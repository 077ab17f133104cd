import {Command, type Option} from 'commander';
import {exampleText} from './help-format.ts';
import {type Cli, type ExitStatus, type Invocation, invocationOf} from './invocation.ts';

/** A command of this program: with examples at the end of its help, and an action that gets an Invocation. */
export class CliCommand extends Command {
  readonly #cli: Cli;

  constructor(name: string, cli: Cli) {
    super(name);
    this.#cli = cli;
  }

  override createCommand(name = ''): CliCommand {
    return new CliCommand(name, this.#cli);
  }

  addOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** Refuses a command line that has two of these options. */
  exclusive(...names: string[]): this {
    const options = this.options.filter(({long}) => names.includes(long ?? ''));
    const attributes = options.map(option => option.attributeName());
    for (const [at, option] of options.entries()) option.conflicts(attributes.toSpliced(at, 1));
    return this;
  }

  /**
   * Ends the help with examples. Brief help has the first two, and before them the options that are named here, or else all of
   * the command's own.
   */
  examples(lines: readonly string[], common?: readonly string[]): this {
    return this.addHelpText('after', () => exampleText(this, lines, common));
  }

  /** What the command does with its options and its words. It succeeds unless it resolves to another exit status. */
  runs<Options, Words extends unknown[]>(
    run: (options: Options, invocation: Invocation, ...words: Words) => Promise<ExitStatus> | Promise<void>,
  ): this {
    return this.action(async (...given: unknown[]) => {
      const [options, command] = given.splice(-2) as [Options, Command];
      const status = await run(options, invocationOf(this.#cli, command), ...(given as Words));
      this.#cli.status = status ?? 0;
    });
  }
}
