import {CommanderError} from 'commander';
import {buildMediaUrl} from './cli/commands/media-url.ts';
import {buildProgram} from './cli/commands/program.ts';
import {asMediaError} from './cli/output/report.ts';
import {Stdout} from './cli/output/stdout.ts';
import {type Cli, type ExitStatus, noteOptions, reportFor} from './cli/session/invocation.ts';
import {exitStatusOf} from './errors.ts';
import type {Host} from './host.ts';

export {systemHost} from './host.ts';
export {runProcess} from './process-end.ts';

/** Runs a command line. Resolves to its exit status, or to the signal to end by; all errors are caught here. */
export async function run(argv: readonly string[], host: Host, build = buildProgram): Promise<ExitStatus> {
  const stdout = new Stdout(host.stdout);
  return new Promise(resolve => {
    /** Reports a failure of standard output if nobody has, and ends the run once standard error has been read. */
    const end = async (status: ExitStatus, signalPatienceMs: number) => {
      const isSignal = typeof status === 'string';
      // Any other status counts the failure, and was decided after it was reported.
      if (isSignal && stdout.failure !== undefined && !stdout.isReported) fail(stdout.failure, argv, host);
      await drainStderr(host, isSignal ? signalPatienceMs : 10_000);
      resolve(status);
    };
    const abandon = (status: ExitStatus) => void end(status, 0);
    const cli: Cli = {host, stdout, argv, optionsRead: [], output: '', status: 0, abandon};
    execute(build, cli)
      .catch(error => fail(error, argv, host))
      .then(status => end(status, 2_000));
  });
}

/** Runs a command line of `media-url`. */
export const runMediaUrl = (argv: readonly string[], host: Host) => run(argv, host, buildMediaUrl);

/** Resolves when the system has taken all of standard error, or after `ms` milliseconds if a reader is slow. */
async function drainStderr({stderr, clock}: Host, ms: number): Promise<void> {
  if (stderr.writableLength === 0) return;
  await new Promise<void>(resolve => {
    const cancel = clock.after(ms, resolve);
    stderr.write('', () => {
      cancel();
      resolve();
    });
  });
}

/** Parses the command line and runs its command. Resolves to its exit status; rejects with what ended it. */
async function execute(build: typeof buildProgram, cli: Cli): Promise<ExitStatus> {
  const program = build(cli);
  noteOptions(program, cli.optionsRead);
  try {
    await program.parseAsync(cli.argv, {from: 'user'});
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code !== 'commander.help') {
      const {usageError} = await import('./cli/session/usage-error.ts');
      throw usageError(error, cli.argv, program, cli.host);
    }
    await cli.stdout.write(cli.output);
  }
  if (cli.stdout.failure !== undefined && cli.status === 0) throw cli.stdout.failure;
  return cli.status;
}

/** Reports an error, and returns its exit status. The options may be what is wrong, so the words are read for them. */
function fail(error: unknown, argv: readonly string[], host: Host): number {
  const failure = asMediaError(error);
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const isJson = /^--(format[=\n])?(nd)?json$/m.test(words.join('\n'));
  const verbose = words.includes('--verbose') || words.includes('-v');
  reportFor(host, {verbose}, isJson ? 'json' : undefined).failure(failure);
  return exitStatusOf[failure.code];
}
