import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect} from 'vitest';
import {type FormatName, formatNames} from '../../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {experiment, onlyTorture} from '../../../support/experiment/experiment.ts';
import {notJson, payloads, rawControl, runnerCommands} from '../../../support/experiment/hostile-text.ts';
import {fixture, type Sandbox} from '../../../support/media.ts';
import {optionOf} from '../../../support/output-formats.ts';

/** Every payload as a file name, and what people, systems and attackers come up with besides; as bytes. */
const names: Buffer[] = [
  ...Object.values(payloads).map(text => text.replaceAll('/', '\u2215').replaceAll('\0', '')),
  ' leading and trailing .png ',
  'first\nsecond.png',
  'first\rsecond.png',
  'tab\tin the middle.png',
  '"double" \'single\' `back`.png',
  '--option.png',
  '--json',
  '-',
  '--',
  '-rf',
  '@file.png',
  '+1+1.png',
  '-1+1.png',
  '\t=1+1.png',
  '\n=1+1.png',
  '\uff1d1+1.png',
  'a,b;=1+1.png',
  '"quoted","cell".png',
  '%s%n%0A%0D.png',
  '$(touch evil).png',
  '`touch evil`.png',
  'a;touch evil;.png',
  '|cat.png',
  '{{constructor}}.png',
  '$MEDIA_API_KEY.png',
  '__proto__',
  'constructor.png',
  'CON.png',
  'trailing dot.',
  'trailing space.png ',
  '...',
  '.hidden.png',
  'a\\b\\..\\c.png',
  '\ufeffmark.png',
  '👩‍👩‍👧‍👦🏳️‍🌈.png',
  'e\u0301\u0302\u0303\u0304.png',
  'é'.repeat(125),
  'x'.repeat(251).concat('.png'),
  'זה.png',
  '\u{e0001}\u{e0041}tag.png',
  '[a]*?{b}!(c).png',
  '==='.concat('\n', '# heading'),
  'EOF\nevil=1\nEOF',
  'a\n::set-env name=PATH::evil.png',
  'x ##[stop-commands]evil.png',
  '::stop-commands::evil',
  '##teamcity[buildStop]',
]
  .map(text => Buffer.from(text))
  .concat(
    [
      '\xff\xfe.png',
      'latin1-\xe9.png',
      '\x80\x9b31m.png',
      '\xc0\xaf.png',
      '\xed\xa0\x80.png',
      '=\xff.png',
    ].map(text => Buffer.from(text, 'latin1')),
  );

/** A sandbox with a directory of these names; each file begins with `content`, and no two are equal. */
async function hostileDirectory(content: Buffer) {
  const connected = await connectedSandbox();
  const directory = join(connected.sandbox.directory, 'in');
  await mkdir(directory);
  for (const name of names)
    await writeFile(Buffer.concat([Buffer.from(`${directory}/`), name]), Buffer.concat([content, name]));
  return connected;
}

type Check = (stdout: string) => string[];

function when(isBroken: boolean, text: string): string[] {
  return isBroken ? [text] : [];
}

function lines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

const oneEach: Check = stdout => when(lines(stdout).length !== names.length, `${lines(stdout).length} lines`);
const jsonLines: Check = stdout => [...oneEach(stdout), ...notJson(stdout)];

const checks: Record<FormatName, Check> = {
  json: jsonLines,
  url: oneEach,
  table: stdout => when(lines(stdout).length < names.length, 'rows are missing'),
  ndjson: stdout => [...jsonLines(stdout), ...notWhole(stdout)],
  markdown: stdout => [
    ...oneEach(stdout),
    // One image a line, in whose text every character that could mean anything is escaped.
    ...lines(stdout).filter(
      line =>
        !/^!\[(?:[^\\`*_{}[\]()<>#+\-!|~&=$^]|\\[!-/:-@[-`{-~])*\]\(http:\/\/127\.0\.0\.1:\d+\/files\/\w+\)$/.test(
          line,
        ),
    ),
  ],
};

/** What is missing of the names' bytes in what ndjson tells. */
function notWhole(stdout: string): string[] {
  const told = lines(stdout).map(line => {
    const {file, fileBase64} = JSON.parse(line) as {file: string; fileBase64?: string};
    return (fileBase64 === undefined ? Buffer.from(file) : Buffer.from(fileBase64, 'base64')).toString('hex');
  });
  return names
    .filter(name => !told.includes(Buffer.concat([Buffer.from('in/'), name]).toString('hex')))
    .map(name => `not told whole: ${JSON.stringify(name.toString())}`);
}

function complaintsAbout(stdout: string, stderr: string): string[] {
  return [
    ...when(rawControl.test(stdout + stderr), 'a raw control character'),
    ...runnerCommands(stdout + stderr).map(line => `a command to CI: ${line}`),
  ];
}

experiment(
  'hostile names: uploaded, in every output format',
  async () => {
    expect(names.length).toBeGreaterThanOrEqual(40);
    const {service, sandbox} = await hostileDirectory(await readFile(fixture('photo.png')));
    const broken: string[] = [];
    for (const format of formatNames) {
      const {stdout, stderr, exitCode} = await sandbox.run([
        'upload',
        '-r',
        '--all',
        'in',
        ...optionOf(format),
      ]);
      expect(exitCode, stderr).toBe(0);
      const complaints = [...complaintsAbout(stdout, stderr), ...checks[format](stdout)];
      broken.push(...complaints.map(complaint => `${format}: ${complaint}`));
    }
    expect(await service.records()).toHaveLength(names.length * formatNames.length);
    const tried = names.length * formatNames.length;
    return {
      tried,
      held: tried - broken.length,
      broken,
      note: `${names.length} names, ${formatNames.length} formats`,
    };
  },
  onlyTorture('test/cli/upload/names.test.ts'),
);

experiment(
  'hostile names: refused, in words and as JSON',
  async ({scale}) => {
    const {sandbox} = await hostileDirectory(Buffer.from('<!doctype html><p>no image'));
    const broken: string[] = [];
    const formats = scale === 'long' ? formatNames : (['table', 'ndjson'] as const);
    for (const format of formats) {
      const {stdout, stderr, exitCode} = await sandbox.run([
        'upload',
        '-v',
        '-r',
        '--all',
        'in',
        ...optionOf(format),
      ]);
      expect(exitCode).toBe(1);
      broken.push(...complaintsAbout(stdout, stderr).map(complaint => `${format}: ${complaint}`));
    }
    const tried = names.length * formats.length;
    return {tried, held: tried - broken.length, broken};
  },
  onlyTorture('test/cli/upload/names.test.ts'),
);

experiment('hostile names: in a journal, its list, its check and its merge', async () => {
  const {service, sandbox} = await hostileDirectory(await readFile(fixture('photo.png')));
  const upload = ['upload', '-r', '--all', 'in', '--journal', 'a.journal', '--ndjson'];
  const broken: string[] = [];
  const first = await sandbox.run(upload);
  const again = await sandbox.run(upload);
  expect([first.exitCode, again.exitCode]).toEqual([0, 0]);
  broken.push(...notWhole(first.stdout), ...notWhole(again.stdout));
  broken.push(...notJson(await readFile(join(sandbox.directory, 'a.journal'), 'utf8')));
  const others = [
    ['journal', 'list', 'a.journal'],
    ['journal', 'list', '--json', 'a.journal'],
    ['journal', 'check', 'a.journal', '--', 'in'],
    ['journal', 'check', '--json', 'a.journal', '--', 'in'],
    ['journal', 'merge', '-o', 'b.journal', 'a.journal'],
  ];
  for (const parameters of others) {
    const {stdout, stderr, exitCode} = await sandbox.run(parameters);
    if (exitCode !== 0) broken.push(`${parameters.join(' ')}: status ${exitCode}: ${stderr}`);
    broken.push(...complaintsAbout(stdout, stderr));
    if (parameters.includes('--json')) broken.push(...notJson(stdout));
    if (parameters[1] === 'list') broken.push(...oneEach(stdout));
  }
  expect(await service.records()).toHaveLength(names.length);
  const tried = names.length * (others.length + 2);
  return {tried, held: tried - broken.length, broken, note: 'a second run sends nothing'};
});

/** Whether `media upload` writes annotations for GitHub. */
async function knowsAnnotations(sandbox: Sandbox): Promise<boolean> {
  return (await sandbox.run(['upload', '--help'])).stdout.includes('--ci');
}

/** The names of the values in a GITHUB_OUTPUT file, as GitHub's runner reads it. */
function outputNames(text: string): string[] {
  const found: string[] = [];
  const rest = text.split('\n');
  for (let line = rest.shift(); line !== undefined; line = rest.shift()) {
    const [, name, delimiter] = /^([^=<]+)<<(.+)$/.exec(line) ?? [];
    if (name !== undefined && delimiter !== undefined) {
      found.push(name);
      while (rest.length > 0 && rest.shift() !== delimiter) {
        // The value.
      }
    } else if (line.includes('=')) found.push(line.slice(0, line.indexOf('=')));
  }
  return found;
}

experiment('hostile names: in annotations, outputs and the summary for GitHub', async () => {
  const refused = await hostileDirectory(Buffer.from('<!doctype html><p>no image'));
  const stored = await hostileDirectory(await readFile(fixture('photo.png')));
  if (!(await knowsAnnotations(refused.sandbox))) return {tried: 1, held: 1, note: 'there is no --ci yet'};
  const broken: string[] = [];
  for (const {sandbox} of [refused, stored]) {
    const output = join(sandbox.directory, 'output.txt');
    const summary = join(sandbox.directory, 'summary.md');
    await writeFile(output, '');
    await writeFile(summary, '');
    const env = {...sandbox.env, GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary};
    const {stdout, stderr} = await sandbox.run(['upload', '-r', '--all', 'in', '--ci'], {env});
    const commands = runnerCommands(stdout + stderr);
    const strange = commands.filter(
      line => !/^::(error|warning|notice)( |::)/.test(line) || /##\w*\[/.test(line),
    );
    broken.push(...strange.map(line => `a command: ${line}`));
    broken.push(...when(commands.length > 11, `${commands.length} annotations`));
    const told = outputNames(await readFile(output, 'utf8'));
    broken.push(...told.filter(name => /evil|EOF/.test(name)).map(name => `an output: ${name}`));
    const text = await readFile(summary, 'utf8');
    broken.push(...when(/(?<!\\)<script|\]\(javascript:/.test(text), 'a script in the summary'));
    broken.push(...when(rawControl.test(text + stdout + stderr), 'a raw control character'));
  }
  return {tried: 2 * names.length, held: 2 * names.length - broken.length, broken};
});
