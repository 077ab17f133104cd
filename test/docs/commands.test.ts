import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {settingNames, settingTable} from '../../src/cli/settings/setting-table.ts';
import type {Host} from '../../src/host.ts';
import {run} from '../../src/main.ts';
import {inlineCodeOf, markdown, markdownFiles} from '../support/examples.ts';
import {
  commandsBelow,
  complaint,
  everyCommand,
  fullName,
  host,
  inertProgram,
  options,
} from './command-lines.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

it('the options of every command that overrule a setting are those of the table of settings', () => {
  const inTable = settingNames.flatMap(name => {
    const {option} = settingTable[name];
    return option === undefined ? [] : [[`--${name}`, option]];
  });
  const names = settingNames.map(name => `--${name}`);
  const declared = inertProgram()
    .program.options.filter(({long}) => names.includes(long ?? ''))
    .map(option => [option.long, option.attributeName()]);
  expect(declared.toSorted()).toEqual(inTable.toSorted());
});

/** What a command prints with -h or --help on a terminal of 80 columns. */
async function helpOf(name: string, option: '-h' | '--help'): Promise<string> {
  const terminal = Object.assign(new PassThrough(), {columns: 80});
  const [, ...words] = name.split(' ');
  await run([...words, option], {...host, stdout: terminal as unknown as Host['stdout']});
  return String(terminal.read());
}

describe('--help', () => {
  it.each(everyCommand.map(fullName))('%s -h: one screen of 25 lines of 80 columns', async name => {
    const text = await helpOf(name, '-h');
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(lines.filter(line => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
    expect(text).toContain(`\nUsage: ${name} `);
    expect(text).toMatch(/\nExamples:\n(?: {2}\$ .*media.*\n){1,2}\nFor all options, see: media.* --help\n$/);
    expect((text.match(/^ {2}(?:-\w, )?--/gm) ?? []).length).toBeLessThanOrEqual(10);
  });

  it('media upload --help: one screen of 50 lines of 80 columns, a line for each option', async () => {
    const text = await helpOf('media upload', '--help');
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(lines.filter(line => line.length > 80 || /^ {5,}/.test(line))).toEqual([]);
  });

  it.each(everyCommand.map(fullName))('%s: examples of it that commander takes', async name => {
    const {program, cli} = inertProgram();
    commandsBelow(program)
      .find(command => fullName(command) === name)
      ?.outputHelp();
    const [, text = ''] = cli.output.split('\nExamples:\n');
    const lines = text.split('\n').filter(line => line !== '');
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter(line => !line.startsWith('  $ '))).toEqual([]);
    for (const line of lines) {
      const command = line
        .slice('  $ '.length)
        .replace(/^source <\((.*)\)$/, '$1')
        .split(' | ')
        .find(part => part.startsWith('media '));
      expect(`${command} `).toContain(`${name} `);
      expect({line, complaint: await complaint(command ?? '')}).toEqual({line, complaint: undefined});
    }
  });
});

describe('journals in help and docs', () => {
  it('end in .journal, or in .json as a manifest does, so that nobody takes one for the output of --ndjson', () => {
    const pages = markdownFiles().filter(file => /^(?:README|docs)/.test(file));
    const manual = readFileSync(join(source, '../man/media.1'), 'utf8').replaceAll('\\', '');
    const all = [...pages.map(markdown), manual].join('\n');
    const named = [
      ...all.matchAll(/--journal\n? +([\w"'$./*-]+\.\w+)/g),
      ...all.matchAll(/media journal [a-z]+ (?:-\S+ )*([\w"'$./*-]+\.\w+)/g),
    ].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter(name => !/\.(?:journal|json)$/.test(name))).toEqual([]);
  });
});

describe('what README, docs and the like name in a sentence', () => {
  const files = markdownFiles().filter(file => !file.startsWith('test/'));
  const codes = files.flatMap(file => inlineCodeOf(markdown(file)).map(code => ({file, code})));

  it('commands: they exist, and commander takes them with what stands after their names', async () => {
    const named = codes.filter(({code}) => /^media [a-z]/.test(code));
    expect(named.length).toBeGreaterThan(15);
    const judged = await Promise.all(
      named.map(async ({file, code}) => {
        const [line = ''] = code.split(/ \\?\|/);
        const isWhole = everyCommand.some(command => fullName(command) === line.replace(/ --help$/, ''));
        return {file, code, complaint: isWhole ? undefined : await complaint(line)};
      }),
    );
    expect(judged.filter(({complaint: found}) => found !== undefined)).toEqual([]);
  });

  it('options: they exist', () => {
    const foreign = ['--install-links', '--help'];
    foreign.push('--from', '--prefix', '--uninstall'); // of install.sh
    foreign.push('--input', '--pull', '--read-only', '--rm', '--target', '--tmpfs', '--volume'); // of docker
    const ours = codes.filter(({code}) => !/^(?:npm|sbatch|systemctl|gh|shasum) /.test(code));
    const named = ours.flatMap(({file, code}) =>
      [...code.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map(([option]) => ({file, option})),
    );
    expect(named.filter(({option}) => !foreign.includes(option) && !options.has(option))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });
});
