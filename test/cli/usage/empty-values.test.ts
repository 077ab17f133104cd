import {copyFile, mkdir, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import type {Command} from 'commander';
import {expect, test} from 'vitest';
import {buildProgram} from '../../../src/cli/commands/program.ts';
import {Stdout} from '../../../src/cli/output/stdout.ts';
import {systemHost} from '../../../src/host.ts';
import {run} from '../../../src/main.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture, sandbox} from '../../support/media.ts';

/** Standard output and error that collect what is written. */
function collecting() {
  const stderr = new PassThrough();
  let text = '';
  stderr.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  return {streams: {stdout: new PassThrough(), stderr}, written: () => text};
}

function tree(): Command {
  const host = {...systemHost(), ...collecting().streams};
  const stdout = new Stdout(host.stdout);
  return buildProgram({
    host,
    stdout,
    argv: [],
    optionsRead: [],
    output: '',
    status: 0,
    abandon: () => {},
  });
}

/** Every command that does something, with the words that lead to it and the arguments it cannot do without. */
function leaves(
  command: Command,
  words: string[] = [],
): {command: Command; words: string[]; needs: string[]}[] {
  if (command.commands.length > 0)
    return command.commands.flatMap(child => leaves(child, [...words, child.name()]));
  const needs = command.registeredArguments.filter(({required}) => required).map(() => 'bash');
  return [{command, words, needs}];
}

const root = tree();
const commands = leaves(root).filter(({words}) => words[0] !== 'help');
const emptyOptions = commands.flatMap(({command, words, needs}) =>
  [...command.options, ...root.options]
    .filter(option => option.required && option.long)
    .map(option => [...words, ...needs, ...mandatory(command, option.long), option.long ?? '', '']),
);
const emptyArguments = commands
  .filter(({command}) => command.registeredArguments.length > 0)
  .map(({command, words, needs}) => [...words, ...mandatory(command), ...needs.slice(1), '']);

/** The options that a command cannot do without, but for the one that is given anyway. */
function mandatory(command: Command, given?: string): string[] {
  return command.options
    .filter(option => option.mandatory && option.long !== given)
    .flatMap(option => [option.long ?? '', 'x']);
}

test('there are many options to try', () => {
  expect(emptyOptions.length).toBeGreaterThan(70);
  expect(emptyOptions).toContainEqual(['serve', '--data-dir', '']);
  expect(emptyOptions).toContainEqual(['journal', 'merge', 'bash', '--output', '']);
  expect(emptyArguments).toContainEqual(['upload', '']);
});

test.each([...emptyOptions, ...emptyArguments].map(words => [JSON.stringify(words), words] as const))(
  'media %s: a usage error',
  async (_, words) => {
    const {streams, written} = collecting();
    const status = await run(words, {...systemHost(), ...streams, env: {}});
    expect(written()).toMatch(/^media: .*(is empty\.|'' is invalid)/);
    expect(status).toBe(2);
  },
);

test('media upload -r "" uploads nothing of the working directory, nor does an empty name beside others', async () => {
  const {service, sandbox: box} = await connectedSandbox();
  await mkdir(join(box.directory, 'photos'));
  await copyFile(fixture('photo.png'), join(box.directory, 'photos/a.png'));
  for (const inputs of [[''], ['photos', ''], ['--files-from', '']]) {
    const {stdout, stderr, exitCode} = await box.run(['upload', '-r', ...inputs, '--json']);
    expect([stdout, exitCode, JSON.parse(stderr).error.code]).toEqual(['', 2, 'usage']);
  }
  expect(await service.records()).toEqual([]);
});

test('media serve --data-dir "" writes nothing into the working directory', async () => {
  const box = await sandbox();
  const {stderr, exitCode} = await box.run(['serve', '--port', '0', '--data-dir', '']);
  expect(stderr).toBe(
    'media: The value of --data-dir is empty.\n  If it comes from a variable, that variable is not set.\n',
  );
  expect(exitCode).toBe(2);
  expect(await readdir(box.directory)).toEqual([]);
});

test('empty variables of the environment count as unset', async () => {
  const box = await sandbox();
  const env = {...box.env, MEDIA_PROFILE: '', MEDIA_BASE_URL: '', MEDIA_API_KEY: '', MEDIA_CONFIG_DIR: ''};
  const {stdout, exitCode} = await box.run(['config', 'list'], {env});
  expect(exitCode).toBe(0);
  expect(stdout).toContain(box.directory);
});
