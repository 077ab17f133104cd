import {readdirSync, readFileSync} from 'node:fs';
import {copyFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {settingNames, settingTable} from '../../src/cli/settings/setting-table.ts';
import {retryableRefusals} from '../../src/engine/service/uploader.ts';
import {jobEngines} from '../../src/engine/sources/find/shard.ts';
import {environment, files} from '../../tools/reference.ts';
import {connectedSandbox} from '../support/embedded.ts';
import {markdown} from '../support/examples.ts';
import {fixture, sandbox} from '../support/media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = ['src', 'bin'].flatMap(directory =>
  readdirSync(join(root, directory), {recursive: true, encoding: 'utf8'})
    .filter(file => /\.[tj]s$/.test(file) && !file.startsWith('completion/'))
    .map(file => readFileSync(join(root, directory, file), 'utf8')),
);

/** Variables that tell the program where it runs, and that nobody sets for it. */
const surroundings = [
  ...['PATH', 'XTERM_VERSION', 'TERM_PROGRAM', 'TMUX', 'WT_SESSION', 'VTE_VERSION', 'KONSOLE_VERSION'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'],
  ...['APPDATA', 'LOCALAPPDATA'],
  ...['GITHUB_ACTIONS', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_WORKSPACE'],
];

describe('the table of environment variables', () => {
  const documented = environment.flatMap(([names]) => [...names.matchAll(/[A-Z_]+/g)].map(([name]) => name));

  it('has every variable that the program reads, but those of its surroundings', () => {
    const named = sources.flatMap(text =>
      [...text.matchAll(/\benv(?:\['|\.)([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name),
    );
    const ofSettings = Object.values(settingTable).map(({variable}: {variable?: string}) => variable);
    const read = new Set([...named, ...ofSettings.filter(name => name !== undefined)]);
    expect(read.size).toBeGreaterThan(15);
    expect([...read].filter(name => ![...documented, ...surroundings].includes(name ?? ''))).toEqual([]);
  });

  it('is about settings that something reads, besides the table that declares them', () => {
    const others = sources.filter(text => !text.includes('settingTable = '));
    const unread = settingNames.filter(name => !others.some(text => text.includes(`'${name}'`)));
    expect(unread).toEqual([]);
  });

  it('has no variable that nothing reads', () => {
    const byNode = ['NODE_EXTRA_CA_CERTS'];
    const unread = documented
      .filter(name => !byNode.includes(name))
      .filter(name => !sources.some(text => text.includes(name) || text.includes(`'${name.toLowerCase()}'`)));
    expect(unread.filter(name => !/_PROXY$/.test(name))).toEqual([]);
  });
});

describe('the table of files', () => {
  it.runIf(process.platform === 'linux')('names the places that the program takes on Linux', async () => {
    const box = await sandbox();
    const env = {PATH: box.env['PATH'] ?? '', HOME: box.directory};
    const [settings, data] = files.map(([, linux = '']) =>
      linux.replaceAll('`', '').replace('~', box.directory),
    );
    expect((await box.run(['config', 'list'], {env})).stdout).toContain(`: ${settings}\n`);
    const upload = ['upload', fixture('photo.png'), '--base-url', 'embedded'];
    expect((await box.run(upload, {env})).exitCode).toBe(0);
    expect(readdirSync(data ?? '')).not.toEqual([]);
  });
});

it('docs/platforms.md names the signals that the program listens to, and no others', () => {
  const host = readFileSync(join(root, 'src/host.ts'), 'utf8');
  const listened = [...host.matchAll(/(?<!kill\(0, )'(SIG[A-Z0-9]+)'/g)].map(([, name]) => name);
  const named = markdown('docs/platforms.md').match(/SIG[A-Z0-9]+/g);
  expect([...new Set(named)].sort()).toEqual([...new Set(listened)].sort());
});

it('docs/sharding.md names the batch systems whose variables the program reads', () => {
  const text = markdown('docs/sharding.md');
  expect(jobEngines.filter(({name}) => !text.includes(name))).toEqual([]);
});

/** The names in the first column of the table of fields in docs/output.md. */
function fieldsOfLine(): string[] {
  const [, page = ''] = markdown('docs/output.md').split('| field | value |\n|---|---|\n');
  const [table = ''] = /^(?:\|.*\n)+/.exec(page) ?? [];
  const cells = [...table.matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)).sort();
}

/** The names of the fields in a schema of the docs: those of the first kind of line, if there are several. */
function fieldsOfSchema(name: string): string[] {
  const schema = JSON.parse(markdown(`docs/schemas/${name}.json`));
  return Object.keys((schema.anyOf?.[0] ?? schema).properties).sort();
}

describe('the tables and schemas of the other JSON outputs', () => {
  it('have the fields of media doctor and media whoami, with a key that is refused and without one', async () => {
    const {sandbox: box} = await connectedSandbox();
    const fields = {doctor: new Set<string>(), whoami: new Set<string>()};
    for (const env of [{}, {MEDIA_API_KEY: 'mk_not-the-key'}, {MEDIA_API_KEY: ''}])
      for (const command of ['doctor', 'whoami'] as const) {
        const {stdout} = await box.run([command, '--json'], {env: {...box.env, ...env}});
        for (const field of Object.keys(JSON.parse(stdout))) fields[command].add(field);
      }
    const documented = fieldsOfSchema('whoami');
    expect([...fields.whoami].filter(field => !documented.includes(field))).toEqual([]);
    expect(documented.filter(field => !fields.whoami.has(field))).toEqual(['profileUrl']);
    expect([...fields.doctor].sort()).toEqual(fieldsOfSchema('doctor'));
  });

  it('have the fields of errors on standard error, and of media journal check', async () => {
    const {sandbox: box} = await connectedSandbox();
    await copyFile(fixture('photo.png'), join(box.directory, 'photo.png'));
    await copyFile(fixture('clip.mp4'), join(box.directory, 'clip.mp4'));
    const env = {...box.env, MEDIA_API_KEY: 'mk_not-the-key'};
    const refused = await box.run(['upload', 'photo.png', '--json'], {env});
    const {error} = JSON.parse(markdown('docs/schemas/error.json')).properties;
    expect([...Object.keys(JSON.parse(refused.stderr).error), 'count'].sort()).toEqual(
      Object.keys(error.properties).sort(),
    );
    await box.run(['upload', 'photo.png', '--journal', 'a.journal']);
    const {stdout} = await box.run([
      'journal',
      'check',
      'a.journal',
      '--json',
      '--',
      'photo.png',
      'clip.mp4',
    ]);
    const documented = fieldsOfSchema('journal-check').filter(field => field !== 'fileBase64');
    expect(Object.keys(JSON.parse(stdout)).sort()).toEqual(documented);
  });
});

describe('the table of --ndjson', () => {
  it('has the fields of what is uploaded, misnamed, failed and checked, and no others', async () => {
    const {sandbox: box} = await connectedSandbox();
    const odd = join(box.directory, 'odd');
    const shell = `mkdir odd && cp "$1" photo.png && cp "$1" same.png && cp "$1" named.jpg && cp "$1" "odd/$(printf 'n\\351.png')"`;
    await execa('bash', ['-c', shell, 'bash', fixture('photo.png')], {cwd: box.directory});
    const runs = [
      ['photo.png', 'absent.png', 'named.jpg', '--journal', 'all.journal'],
      ['photo.png', 'same.png', '--dry-run'],
      ['-r', odd],
      ['photo.png', '--verify', 'warn', '--geotags', 'warn'],
    ];
    const fields = new Set<string>();
    for (const parameters of runs) {
      const {stdout} = await box.run(['upload', '--ndjson', ...parameters]);
      for (const line of stdout.trim().split('\n'))
        for (const field of Object.keys(JSON.parse(line))) fields.add(field);
    }
    expect(fieldsOfLine()).toEqual([...fields].sort());
  });
});

describe('the schema of media rewrite --ndjson', () => {
  it('has the fields of references that are uploaded and missing, and no others', async () => {
    const {sandbox: box} = await connectedSandbox();
    await copyFile(fixture('photo.png'), join(box.directory, 'photo.png'));
    await writeFile(join(box.directory, 'post.md'), '![a](photo.png) ![b](absent.png)');
    const options = ['--ndjson', '--write', '--allow-missing', '--geotags', 'warn'];
    const {stdout} = await box.run(['rewrite', ...options, 'post.md']);
    const fields = new Set(
      stdout
        .trim()
        .split('\n')
        .flatMap(line => Object.keys(JSON.parse(line))),
    );
    expect(fieldsOfSchema('rewrite')).toEqual([...fields].sort());
  });
});

it('docs/guarantees.md names each status that is retried as a refusal', () => {
  const text = readFileSync(join(root, 'docs/guarantees.md'), 'utf8');
  expect([...retryableRefusals.keys()].filter(status => !text.includes(`**${status}**`))).toEqual([]);
});
