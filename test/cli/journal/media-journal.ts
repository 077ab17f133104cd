import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {journalCommand} from '../../../src/cli/commands/journal/journal-command.ts';
import {Stdout} from '../../../src/cli/output/stdout.ts';
import {type Cli, CliCommand} from '../../../src/cli/session/invocation.ts';
import {exitStatusOf, MediaError} from '../../../src/errors.ts';
import {type Bench, hostIn, inputOf, upload} from '../../support/journal.ts';

/** Runs `media journal` as the program does, in this process, in the bench's directory. */
export async function media(one: Bench, ...parameters: string[]) {
  const collected = (stream: PassThrough) => {
    let text = '';
    stream.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    return () => text;
  };
  const streams = {stdout: new PassThrough(), stderr: new PassThrough()};
  const [stdout, stderr] = [collected(streams.stdout), collected(streams.stderr)];
  const host = hostIn(one.directory, streams);
  const cli: Cli = {
    host,
    stdout: new Stdout(streams.stdout),
    argv: ['journal', ...parameters],
    optionsRead: [],
    output: '',
    status: 0,
    abandon: () => {},
  };
  const program = new CliCommand('media', cli).exitOverride();
  journalCommand(program.command('journal'));
  try {
    await program.parseAsync(['journal', ...parameters], {from: 'user'});
    return {stdout: stdout(), stderr: stderr(), exitCode: cli.status, error: undefined};
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return {stdout: stdout(), stderr: stderr(), exitCode: exitStatusOf[error.code], error: error.message};
  }
}

/** A journal of some inputs, each left as told. */
export function journalOf(
  one: Bench,
  name: string,
  inputs: Record<string, [end: 'intent' | 'commit' | 'done' | 'failed', id?: string]>,
  content?: string,
): Promise<void> {
  return one.run(
    async journal => {
      for (const [path, [end, id]] of Object.entries(inputs)) {
        await upload(journal, inputOf(path, content), end, id);
      }
    },
    join(one.directory, name),
  );
}

/** What the input of that path has in a journal. */
export function contentOf(path: string): string {
  return inputOf(path).content;
}

/** Files with that content, under the bench's directory. */
export async function files(one: Bench, contents: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(join(one.directory, name, '..'), {recursive: true});
    await writeFile(join(one.directory, name), content);
  }
}
