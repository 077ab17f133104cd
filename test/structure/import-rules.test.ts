import {spawnSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {basename, dirname, join, normalize} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, describe, expect, it} from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
  /** Imported when the importing file is, not by a call. */
  eager: boolean;
}

const files = readdirSync(source, {recursive: true, encoding: 'utf8'}).filter(file => file.endsWith('.ts'));

const imports = files.flatMap(from => importsOf(from, readFileSync(join(source, from), 'utf8')));

function importsOf(from: string, text: string): Import[] {
  const statements = [...text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gms)].map(
    match => ({
      from,
      to: resolve(from, match[2] ?? ''),
      typeOnly: match[1] !== undefined || allNamesAreTypes(match[0]),
      eager: true,
    }),
  );
  const dynamic = [...text.matchAll(/(typeof )?\bimport\('([^']+)'\)/g)].map(match => ({
    from,
    to: resolve(from, match[2] ?? ''),
    typeOnly: match[1] !== undefined,
    eager: false,
  }));
  const bare = [...text.matchAll(/^import\s+'([^']+)'/gm)].map(match => ({
    from,
    to: resolve(from, match[1] ?? ''),
    typeOnly: false,
    eager: true,
  }));
  return [...statements, ...dynamic, ...bare];
}

function allNamesAreTypes(statement: string): boolean {
  const names =
    /\{([^}]*)\}/
      .exec(statement)?.[1]
      ?.split(',')
      .map(name => name.trim())
      .filter(name => name !== '') ?? [];
  return names.length > 0 && names.every(name => name.startsWith('type ')) && !/^import\s+\w/.test(statement);
}

function resolve(from: string, to: string): string {
  return to.startsWith('.') ? normalize(join(dirname(from), to)) : to;
}

/** Rooms with floors, which are held apart as rooms are. */
const floored = ['cli', 'engine', 'media'];

/** The room of a file, with its floor where the room has some; a file at the root of src is a room by itself. */
function room(file: string): string {
  const [first = '', second = '', ...rest] = file.split('/');
  return rest.length > 0 && floored.includes(first) ? `${first}/${second}` : second === '' ? file : first;
}

/** The folder that a file stands in, which may be part of a room; a file at the root of src is one by itself. */
function folder(file: string): string {
  return file.includes('/') ? dirname(file) : file;
}

/** Which package may be imported where: each has one owner, the embedded service has its own. */
const owners: Record<string, string[]> = {
  commander: ['cli/commands/', 'cli/session/', 'main.ts'],
  undici: ['engine/http/'],
  'mime-types': ['media/type/decide.ts'],
  'file-type': ['media/type/sniff/sniff.ts'],
  conf: ['cli/settings/store.ts'],
  ora: ['cli/output/progress/progress.ts'],
  'cli-table3': ['cli/output/results/table.ts'],
  '@napi-rs/keyring': ['cli/settings/keychain-child.ts'],
  mediabunny: ['media/type/sniff/audio.ts', 'media/pixels/'],
  'image-size': ['media/pixels/'],
  sharp: ['media/pixels/thumbnail.ts'],
  graphql: ['embedded/api/'],
  'graphql-http': ['embedded/api/'],
  send: ['embedded/api/'],
  micromark: ['documents/scan/'],
  'micromark-core-commonmark': ['documents/scan/'],
  'micromark-extension-gfm': ['documents/scan/'],
  'micromark-extension-mdx-expression': ['documents/scan/'],
  'micromark-extension-mdx-jsx': ['documents/scan/'],
  'micromark-extension-mdx-md': ['documents/scan/'],
  'micromark-extension-mdxjs-esm': ['documents/scan/'],
  'vfile-message': ['documents/scan/'],
  'micromark-util-normalize-identifier': ['documents/scan/'],
  'micromark-util-types': ['documents/scan/'],
  'toml-eslint-parser': ['documents/scan/'],
  yaml: ['documents/scan/'],
  parse5: ['documents/scan/'],
  entities: ['documents/scan/'],
  'css-tree': ['documents/scan/'],
  chokidar: ['cli/commands/watch/directory-watch.ts'],
  'prom-client': ['embedded/api/metrics.ts'],
};

/** The contracts, and the general parts that know nothing of media: open to every room. */
const shared = ['errors.ts', 'hint.ts', 'host.ts', 'lib'];

/** What each room may import besides the shared parts. */
const allowed: Record<string, string[]> = {
  'main.ts': ['cli/commands', 'cli/output', 'cli/session', 'process-end.ts'],
  'process-end.ts': ['cli/session'],
  'index.ts': [
    ...['engine/http', 'engine/service', 'engine/sources', 'engine/transfer'],
    ...['embedded', 'library', 'media/type'],
  ],
  'cli/commands': [
    ...['cli/hints', 'cli/output', 'cli/session', 'cli/settings', 'documents', 'embedded'],
    ...[
      'engine/http',
      'engine/journal',
      'engine/manifest',
      'engine/service',
      'engine/sources',
      'engine/transfer',
    ],
    ...['media/pixels', 'media/type', 'package-file.ts'],
  ],
  'cli/session': ['cli/hints', 'cli/output', 'cli/settings', 'embedded', 'engine/http', 'engine/service'],
  'cli/hints': ['cli/settings', 'engine/service', 'engine/transfer'],
  'cli/output': ['engine/service', 'engine/transfer'],
  'cli/settings': ['engine/http', 'engine/service', 'package-file.ts'],
  library: [
    ...['engine/http', 'engine/journal', 'engine/manifest', 'engine/service', 'engine/sources'],
    ...['engine/transfer', 'embedded', 'media/pixels', 'media/type', 'package-file.ts'],
  ],
  documents: ['engine/sources', 'media/type', 'package-file.ts'],
  embedded: ['media/pixels', 'package-file.ts'],
  'engine/transfer': ['engine/http', 'engine/journal', 'engine/service', 'engine/sources', 'media/location'],
  'engine/journal': ['engine/service', 'engine/sources'],
  'engine/manifest': ['engine/journal', 'engine/service', 'engine/sources'],
  'engine/service': ['engine/http'],
  'engine/sources': ['media/type'],
  'engine/http': [],
  'media/location': ['media/tracks', 'media/type'],
  'media/pixels': ['media/tracks', 'package-file.ts'],
  'media/type': ['media/tracks'],
  'media/tracks': [],
  lib: [],
  'host.ts': [],
  'errors.ts': [],
  'hint.ts': [],
  'package-file.ts': [],
};

/** Imports between rooms that may bring code along; every other import below a wall is of types only. */
const codeAllowed: Record<string, string[]> = {
  'engine/journal': ['errors.ts', 'hint.ts', 'lib', 'engine/service/record.ts'],
  'engine/transfer': [
    ...['errors.ts', 'hint.ts', 'media/location', 'lib'],
    ...['engine/service/record.ts', 'engine/service/uploader.ts'],
  ],
  'engine/service': ['errors.ts', 'hint.ts', 'lib', 'engine/http'],
  'cli/output': ['errors.ts', 'hint.ts', 'lib', 'engine/service/record.ts'],
  embedded: ['host.ts', 'lib', 'media/pixels', 'package-file.ts'],
};

/**
 * The files of a room that others may import. The parts in lib, and what every command shares in cli, are for anybody; a command is
 * entered by its declaration.
 */
const doors: Record<string, string[]> = {
  'cli/commands': ['media-url', 'program'],
  'cli/commands/account': ['config', 'login', 'logout', 'whoami'],
  'cli/commands/doctor': ['doctor-command'],
  'cli/commands/journal': ['journal-command'],
  'cli/commands/rewrite': ['rewrite-command'],
  'cli/commands/serve': ['serve-command'],
  'cli/commands/watch': ['watch-command'],
  'cli/commands/watch/disposal': ['disposal'],
  'cli/commands/upload': ['own-files', 'upload-command', 'upload-files', 'upload-queue'],
  'cli/output/progress': ['meter', 'progress'],
  'cli/output/results': ['formats', 'results', 'template'],
  documents: ['documents', 'plan', 'write-plan'],
  'documents/scan': ['reference', 'scan'],
  embedded: ['service'],
  'embedded/api': ['context', 'metrics', 'routes', 'start-state'],
  'embedded/faults': ['control', 'faults'],
  'embedded/pages': ['pages'],
  'embedded/state': ['keys', 'sessions', 'state', 'store-identity', 'stored-record'],
  'engine/http': ['http'],
  'engine/journal': ['journal'],
  'engine/service': ['client', 'key-identity', 'record', 'service-url', 'uploader'],
  'engine/sources/clipboard': ['clipboard'],
  'engine/sources/find': ['expand', 'shard', 'survey'],
  'engine/sources/open': ['disk', 'file-source', 'source', 'spooled'],
  'engine/transfer': ['batch', 'outcome', 'transfer-options'],
  'engine/transfer/attempt': ['attempt', 'explain', 'judge', 'rate-limit'],
  'media/location': ['location'],
  'media/pixels': ['media', 'media-facts', 'probe'],
  'media/tracks': ['bytes', 'containers', 'isobmff-tracks', 'sections'],
  'media/type': ['decide'],
  'media/type/sniff': ['sniff', 'text'],
  'media/type/tables': ['extension-types', 'type-tables'],
};

/** The two contracts that every room shares are in none. */
const contracts = ['errors.ts', 'hint.ts', 'host.ts'];

const local = imports.filter(({to}) => files.includes(to));

/** A file, and all that it brings along by imports of a kind. */
function reachableFrom(file: string, follows: (one: Import) => boolean): ReadonlySet<string> {
  const reachable = new Set<string>();
  const visit = (at: string) => {
    if (reachable.has(at)) return;
    reachable.add(at);
    for (const one of imports) if (one.from === at && follows(one)) visit(one.to);
  };
  visit(file);
  return reachable;
}

describe('the import rules', () => {
  it('find the imports they judge', () => {
    expect(local.length).toBeGreaterThan(100);
    expect(imports).toContainEqual({
      from: 'engine/http/connection.ts',
      to: 'undici',
      typeOnly: false,
      eager: true,
    });
    expect(imports).toContainEqual({
      from: 'media/type/decide.ts',
      to: 'mime-types',
      typeOnly: false,
      eager: false,
    });
  });

  it('every package has its owner', () => {
    const strangers = imports
      .filter(({to}) => !files.includes(to) && !to.startsWith('node:'))
      .filter(({from, to}) => {
        const name = to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : (to.split('/')[0] as string);
        return !(owners[name] ?? []).some(owner => from.startsWith(owner));
      });
    expect(strangers).toEqual([]);
  });

  it('every room imports only from the rooms below it', () => {
    const wrong = local.filter(
      ({from, to}) =>
        room(from) !== room(to) && ![...shared, ...(allowed[room(from)] ?? [])].includes(room(to)),
    );
    expect(wrong).toEqual([]);
  });

  it('code crosses a wall only where it may; types cross freely', () => {
    const wrong = local.filter(({from, to, typeOnly}) => {
      const list = codeAllowed[room(from)];
      if (typeOnly || list === undefined || room(from) === room(to)) return false;
      return !list.some(place => to === place || to.startsWith(`${place}/`));
    });
    expect(wrong).toEqual([]);
  });

  it('no file imports itself by way of another, types included', () => {
    const circular = files.filter(file =>
      local.some(({from, to}) => from === file && reachableFrom(to, () => true).has(file)),
    );
    expect(circular).toEqual([]);
  });

  it('no folder imports itself by way of another, types included', () => {
    const between = local
      .filter(({from, to}) => ![from, to].some(file => contracts.includes(file)))
      .map(({from, to}) => [folder(from), folder(to)] as const)
      .filter(([from, to]) => from !== to);
    const leadsTo = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const [one, other] of between) {
        if (one !== from || seen.has(other)) continue;
        seen.add(other);
        leadsTo(other, seen);
      }
      return seen;
    };
    expect(between.length).toBeGreaterThan(50);
    expect([...new Set(between.map(([from]) => from))].filter(one => leadsTo(one).has(one))).toEqual([]);
  });

  it('a room is entered by its doors alone', () => {
    const wrong = local.filter(({from, to}) => {
      const open = doors[folder(to)];
      return open !== undefined && folder(from) !== folder(to) && !open.includes(basename(to, '.ts'));
    });
    expect(wrong).toEqual([]);
  });

  it('and so it is by tests, apart from its own', () => {
    const tests = fileURLToPath(new URL('..', import.meta.url));
    // What others write into journals, as a crash or another program leaves them.
    const formats = ['engine/journal/journal-file.ts', 'engine/journal/line.ts'];
    const all = readdirSync(tests, {recursive: true, encoding: 'utf8'});
    const names = all.filter(name => /[^/]\.ts$/.test(name));
    const wrong = names.flatMap(from =>
      importsOf(from, readFileSync(join(tests, from), 'utf8')).flatMap(({to}) => {
        const file = to.startsWith('../src/') ? to.slice('../src/'.length) : '';
        const open = doors[folder(file)];
        if (open === undefined || open.includes(basename(file, '.ts'))) return [];
        const [test, own] = [dirname(from).replace(/\/deep$/, ''), folder(file)].map(
          place => `${place.replace('cli/commands', 'cli')}/`,
        ) as [string, string];
        const isOwn = test.startsWith(own) || own.startsWith(test);
        return isOwn || (from === 'support/journal.ts' && formats.includes(file)) ? [] : [`${from}: ${file}`];
      }),
    );
    expect(names.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  it('the lists above name nothing that is not used', () => {
    const between = local.filter(({from, to}) => room(from) !== room(to));
    const owned = Object.entries(owners).flatMap(([name, places]) =>
      places
        .filter(
          place => !imports.some(({from, to}) => from.startsWith(place) && `${to}/`.startsWith(`${name}/`)),
        )
        .map(place => `owner of ${name}: ${place}`),
    );
    const rooms = Object.entries(allowed).flatMap(([from, places]) =>
      places
        .filter(place => !between.some(one => room(one.from) === from && room(one.to) === place))
        .map(place => `${from} imports from ${place}`),
    );
    const code = Object.entries(codeAllowed).flatMap(([from, places]) =>
      places
        .filter(
          place => !between.some(one => !one.typeOnly && room(one.from) === from && one.to.startsWith(place)),
        )
        .map(place => `${from} imports code from ${place}`),
    );
    const entered = Object.entries(doors).flatMap(([to, names]) =>
      names
        .filter(name => !local.some(one => one.to === `${to}/${name}.ts` && folder(one.from) !== to))
        .map(name => `door ${to}: ${name}`),
    );
    expect([...owned, ...rooms, ...code, ...entered]).toEqual([]);
  });

  it('no two files have one name', () => {
    const names = files.map(file => basename(file));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('every exported name is declared once', () => {
    const declared = new Map<string, Set<string>>();
    const declaration =
      /^export (?:abstract )?(?:async )?(?:class|const|function\*?|interface|let|type) (\w+)/gm;
    for (const file of files) {
      for (const [, name = ''] of readFileSync(join(source, file), 'utf8').matchAll(declaration))
        declared.set(name, new Set(declared.get(name)).add(file));
    }
    expect(declared.get('MediaError')).toEqual(new Set(['errors.ts']));
    expect([...declared].filter(([, places]) => places.size > 1)).toEqual([]);
  });

  it('heavy packages are imported only when needed', () => {
    const reachable = reachableFrom('main.ts', ({eager, typeOnly}) => eager && !typeOnly);
    const heavy = [
      'undici',
      'ora',
      'cli-table3',
      'conf',
      'graphql',
      'prom-client',
      'mediabunny',
      'file-type',
      'micromark',
      'parse5',
      'css-tree/tokenizer',
    ];
    expect(heavy.filter(name => reachable.has(name))).toEqual([]);
  });

  it('engine and cli reach a disk by Host.files: no import of node:fs but of types, and none of systemFiles', () => {
    const isAbove = (file: string) => /^(?:cli|engine)\//.test(file);
    const direct = imports.filter(
      ({from, to, typeOnly}) => isAbove(from) && /^(?:node:)?fs\b/.test(to) && !typeOnly,
    );
    const system = files.filter(
      file => isAbove(file) && readFileSync(join(source, file), 'utf8').includes('systemFiles'),
    );
    expect(imports.filter(({to}) => /^node:fs\b/.test(to)).length).toBeGreaterThan(20);
    expect([...direct, ...system]).toEqual([]);
  });

  it('directories are made one by one: with `recursive`, mkdir of Node 20 never returns below /proc', () => {
    const wrong = files.filter(file =>
      /mkdir\w*\([^;]*recursive/.test(readFileSync(join(source, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('process, console, timers and the clock appear in host.ts and process-end.ts alone', () => {
    const pattern =
      /(?<![.\w'])(process\.[a-z]|console\.[a-z]|Date\.now\(|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\()/;
    const strip = (text: string) => text.replace(/\/\*.*?\*\//gs, '').replace(/\/\/.*$/gm, '');
    const wrong = files.filter(
      file =>
        !['host.ts', 'process-end.ts'].includes(file) &&
        pattern.test(strip(readFileSync(join(source, file), 'utf8'))),
    );
    expect(wrong).toEqual([]);
  });
});

/** The size of src, for whoever reads the log: nothing fails for it. */
afterAll(() => {
  const lines = files.flatMap(file => readFileSync(join(source, file), 'utf8').trimEnd().split('\n'));
  const help = spawnSync(process.execPath, ['bin/media.js', 'upload', '--help'], {
    cwd: dirname(source),
    encoding: 'utf8',
  });
  const options = help.stdout.match(/^ +(-\w, )?--/gm) ?? [];
  process.stdout.write(
    `src: ${files.length} files, ${lines.length} lines; media upload: ${options.length} options\n`,
  );
});
