import {CommanderError} from 'commander';
import {type Cli, type ExitStatus, noteOptions, reportFor} from './cli/invocation.ts';
import {usageError} from './cli/usage-error.ts';
import {buildMediaUrl} from './commands/media-url.ts';
import {buildProgram, type Written} from './commands/program.ts';
import {exitStatusOf} from './errors.ts';
import type {Host} from './host.ts';
import {asMediaError} from './output/report.ts';
import {Stdout} from './output/stdout.ts';

export {systemHost} from './host.ts';

type Build = typeof buildProgram;

/** Runs a command line; resolves to its exit status, or the signal to end by. Never rejects: all errors are caught here. */
export async function run(argv: readonly string[], host: Host): Promise<ExitStatus> {
  return runProgram(buildProgram, argv, host);
}

/** Runs one command line of `media-url`, in the same way. */
export async function runMediaUrl(argv: readonly string[], host: Host): Promise<ExitStatus> {
  return runProgram(buildMediaUrl, argv, host);
}

async function runProgram(build: Build, argv: readonly string[], host: Host): Promise<ExitStatus> {
  const stdout = new Stdout(host.stdout);
  return new Promise(resolve => {
    const end = (status: ExitStatus) => {
      // Any other status counts the failure, and was decided after it was reported.
      if (typeof status === 'string' && stdout.failure !== undefined) fail(stdout.failure, argv, host);
      resolve(status);
    };
    const cli: Cli = {host, stdout, argv, typed: [], status: 0, abandon: end};
    execute(build, argv, cli).then(end, error => resolve(fail(error, argv, host)));
  });
}

async function execute(build: Build, argv: readonly string[], cli: Cli): Promise<ExitStatus> {
  const written: Written = {out: '', err: ''};
  const program = build(cli, written, argv);
  noteOptions(program, cli.typed);
  try {
    await program.parseAsync(argv, {from: 'user'});
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code !== 'commander.help')
      throw usageError(error, argv, program, cli.host);
    await cli.stdout.write(written.out || written.err);
  }
  if (cli.stdout.failure !== undefined && cli.status === 0) throw cli.stdout.failure;
  return cli.status;
}

function fail(error: unknown, argv: readonly string[], host: Host): ExitStatus {
  const shown = asMediaError(error);
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const structured = words.includes('--json') || words.includes('--ndjson');
  const report = reportFor(host, {verbose: words.includes('--verbose') || words.includes('-v')}, structured);
  if (shown.code === 'interrupted') return 'SIGINT';
  report.failure(shown);
  return exitStatusOf[shown.code];
}
