import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {type Command, CommanderError} from 'commander';
import ts from 'typescript';
import {describe, expect, it} from 'vitest';
import {buildMediaUrl} from '../../src/cli/commands/media-url.ts';
import {buildProgram} from '../../src/cli/commands/program.ts';
import {Stdout} from '../../src/cli/output/stdout.ts';
import {settingNames, settingTable} from '../../src/cli/settings/setting-table.ts';
import {type Host, systemHost} from '../../src/host.ts';
import {run} from '../../src/main.ts';
import {inlineCodeOf, markdown, markdownFiles} from '../support/examples.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

const host = systemHost();
const stdout = new Stdout(host.stdout);

/** The command tree of a program with nothing to do in it, and what it writes. */
function inertProgram(build: typeof buildProgram = buildProgram) {
  const cli = {host, stdout, argv: [], optionsRead: [], output: '', status: 0, abandon: () => {}};
  const program = build(cli);
  for (const command of commandsBelow(program)) if (command.commands.length === 0) command.action(() => {});
  return {program, cli};
}

function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** Splits a command line as a shell would, up to a redirection. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/['"]/g, ''),
  );
  const end = words.findIndex(word => word === '>' || word === '<');
  return end < 0 ? words : words.slice(0, end);
}

/** What commander has against a command line that begins with `media`; undefined when it takes it. */
async function complaint(line: string): Promise<string | undefined> {
  const [, ...words] = wordsOf(line);
  try {
    await inertProgram().program.parseAsync(words, {from: 'user'});
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    return error.message;
  }
}

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

const everyCommand = commandsBelow(inertProgram().program);
const options = new Set(
  [...everyCommand, inertProgram(buildMediaUrl).program].flatMap(command =>
    command.options.map(({long}) => long),
  ),
);

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

/** Every text in the source but those of imports; X stands for what is put in. */
const texts = readdirSync(source, {recursive: true, encoding: 'utf8'})
  .filter(file => file.endsWith('.ts') && !file.startsWith('embedded/'))
  .flatMap(file => textsOf(file, readFileSync(join(source, file), 'utf8')));

interface Text {
  file: string;
  text: string;
  /** Whether it is, or is chosen from for, the `hint` of an error. */
  isHint: boolean;
}

function textsOf(file: string, code: string): Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node, isHint = false): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node)) found.push({file, text: node.text, isHint});
    if (ts.isTemplateExpression(node)) {
      const rest = node.templateSpans.map(({literal}) => `X${literal.text}`);
      found.push({file, text: `${node.head.text}${rest.join('')}`, isHint});
    }
    const begins = ts.isPropertyAssignment(node) && node.name.getText() === 'hint';
    const goesOn = isHint && (ts.isConditionalExpression(node) || ts.isBinaryExpression(node));
    const isTagged = ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'hint';
    ts.forEachChild(node, child => visit(child, begins || goesOn || isTagged));
  };
  visit(ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true));
  return found;
}

/** Words that follow `media` in sentences which name no command. */
const prose = ['command', 'reads', 'service', 'that'];

describe('what messages and hints tell the user to type', () => {
  it('names commands and subcommands that exist', () => {
    const names = everyCommand.map(fullName);
    const wrong = texts.flatMap(({file, text}) =>
      [...text.matchAll(/\bmedia ([a-z]+)(?: ([a-z]+)\b)?/g)]
        .filter(([, word = '']) => !prose.includes(word))
        .filter(([, word, next]) => {
          const command = everyCommand.find(candidate => fullName(candidate) === `media ${word}`);
          if (command === undefined) return true;
          return command.commands.length > 0 && !names.includes(`media ${word} ${next}`);
        })
        .map(() => ({file, text})),
    );
    expect(wrong).toEqual([]);
    expect(texts.filter(({text}) => /\bmedia login\b/.test(text)).length).toBeGreaterThan(5);
  });

  it('names options that exist', () => {
    const named = texts.flatMap(({file, text}) =>
      [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map(([option]) => ({file, option})),
    );
    const foreign = ['--help', '--disable-wasm-trap-handler']; // The second is one of Node, in NODE_OPTIONS.
    expect(named.filter(({option}) => !foreign.includes(option) && !options.has(option))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  it('has references to options in the rooms of the engine and the library, no option as text', () => {
    const rooms = /^(?:engine|media|documents|lib|library|errors\.ts|hint\.ts)\b/;
    const ofEngine = texts.filter(({file}) => rooms.test(file));
    expect(ofEngine.length).toBeGreaterThan(1000);
    const named = ofEngine.filter(({text}) => /(?<!NODE_OPTIONS=)--[a-z]/.test(text));
    // The commands of journals are the same for both.
    expect(named.filter(({text}) => !text.includes('media journal resolve'))).toEqual([]);
  });

  it('ends with whole commands that commander takes', async () => {
    const commands = texts.flatMap(({text}) => commandsAtEnd(text));
    expect(commands.length).toBeGreaterThan(20);
    expect(await complaintsAbout(commands)).toEqual([]);
  });

  it('names every command at the end of a hint, after a colon: so that it can be pasted', async () => {
    const hints = texts.filter(({isHint, text}) => isHint && namesCommand(text));
    expect(hints.length).toBeGreaterThan(10);
    expect(hints.filter(({text}) => commandsAtEnd(text).length === 0)).toEqual([]);
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
/** Whether a text says to type a command of ours; `media journal list lists all` and the like say what one does. */
function namesCommand(text: string): boolean {
  const names = everyCommand.map(command => command.name()).join('|');
  return new RegExp(`\\bmedia (${names})\\b(?! lists)`).test(text);
}

/** The command that a text ends with; a variable part that follows a word at once stands for options. */
function commandsAtEnd(text: string): string[] {
  const [, command] = /(?:: |as in )(media (?!X)[^:]+?)(?: \(.*\))?$/.exec(text) ?? [];
  // An address that is yet to be put in stands at the end of a sentence.
  return command === undefined ? [] : [command.replace(/(?<=[a-z-])X/g, '').replace(/\.$/, '')];
}

async function complaintsAbout(commands: readonly string[]) {
  const judged = await Promise.all(
    commands.map(async command => ({command, complaint: await complaint(command)})),
  );
  return judged.filter(({complaint: found}) => found !== undefined);
}
