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

const imports: Import[] = files.flatMap(from => {
  const text = readFileSync(join(source, from), 'utf8');
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
});

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

function room(file: string): string {
  return file.includes('/') ? (file.split('/')[0] as string) : file;
}

/** The folder that a file stands in, which may be part of a room; a file at the root of src is one by itself. */
function folder(file: string): string {
  return file.includes('/') ? dirname(file) : file;
}

/** Which package may be imported where: each has one owner, the embedded service has its own. */
const owners: Record<string, string[]> = {
  commander: ['commands/', 'cli/', 'main.ts'],
  undici: ['http/'],
  'mime-types': ['sources/media-type/decide.ts'],
  'file-type': ['sources/media-type/sniff/sniff.ts'],
  conf: ['settings/store.ts'],
  ora: ['output/progress/progress.ts'],
  'cli-table3': ['output/results/table.ts'],
  '@napi-rs/keyring': ['settings/keychain-child.ts'],
  mediabunny: ['sources/media-type/sniff/audio.ts', 'embedded/media/'],
  'image-size': ['embedded/media/'],
  sharp: ['embedded/media/thumbnail.ts'],
  graphql: ['embedded/api/'],
  'graphql-http': ['embedded/api/'],
  send: ['embedded/api/'],
  micromark: ['rewrite/scan/'],
  'micromark-core-commonmark': ['rewrite/scan/'],
  'micromark-extension-gfm': ['rewrite/scan/'],
  'micromark-extension-mdx-expression': ['rewrite/scan/'],
  'micromark-extension-mdx-jsx': ['rewrite/scan/'],
  'micromark-extension-mdx-md': ['rewrite/scan/'],
  'micromark-extension-mdxjs-esm': ['rewrite/scan/'],
  'vfile-message': ['rewrite/scan/'],
  'micromark-util-types': ['rewrite/scan/'],
  'toml-eslint-parser': ['rewrite/scan/'],
  yaml: ['rewrite/scan/'],
  parse5: ['rewrite/scan/'],
  entities: ['rewrite/scan/'],
  'css-tree': ['rewrite/scan/'],
  chokidar: ['commands/watch/directory-watch.ts'],
  'prom-client': ['embedded/api/metrics.ts'],
};

/** The contracts, and the general parts that know nothing of media: open to every room. */
const shared = ['errors.ts', 'hint.ts', 'host.ts', 'lib'];

/** What each room may import besides the shared parts; files at the root of src are rooms of their own. */
const allowed: Record<string, string[]> = {
  'main.ts': ['cli', 'commands', 'output', 'process-end.ts'],
  'process-end.ts': ['cli'],
  'index.ts': ['embedded', 'http', 'library', 'service', 'sources', 'transfer'],
  commands: [
    'cli',
    'rewrite',
    'embedded',
    'http',
    'journal',
    'output',
    'package-file.ts',
    'service',
    'settings',
    'sources',
    'transfer',
  ],
  cli: ['embedded', 'http', 'output', 'service', 'settings', 'transfer', 'package-file.ts'],
  library: ['embedded', 'http', 'journal', 'service', 'sources', 'transfer', 'package-file.ts'],
  output: ['service', 'transfer'],
  transfer: ['geotags', 'http', 'journal', 'service', 'sources'],
  geotags: ['sources'],
  journal: ['service', 'sources'],
  rewrite: ['package-file.ts', 'sources'],
  embedded: ['package-file.ts'],
  service: ['http'],
  sources: [],
  settings: ['package-file.ts', 'service'],
  http: [],
  lib: [],
  'host.ts': [],
  'errors.ts': [],
  'hint.ts': [],

  'package-file.ts': [],
};

/** Imports between rooms that may bring code along; every other import below a wall is of types only. */
const codeAllowed: Record<string, string[]> = {
  journal: ['errors.ts', 'hint.ts', 'lib', 'service/record.ts'],
  transfer: ['errors.ts', 'geotags', 'hint.ts', 'lib', 'service/uploader.ts'],
  output: ['errors.ts', 'hint.ts', 'lib', 'service/record.ts'],
  embedded: ['host.ts', 'lib', 'package-file.ts'],
  service: ['errors.ts', 'hint.ts', 'lib', 'http'],
};

/**
 * The files of a room that others may import. The parts in lib, and what every verb shares in cli, are for anybody; a verb is
 * entered by its declaration.
 */
const doors: Record<string, string[]> = {
  commands: ['media-url', 'program'],
  'commands/account': ['config', 'login', 'logout', 'whoami'],
  'commands/doctor': ['command'],
  'commands/journal': ['command'],
  'commands/rewrite': ['command'],
  'commands/serve': ['command'],
  'commands/watch': ['command'],
  'commands/watch/disposal': ['disposal'],
  'commands/upload': ['command', 'own-files', 'upload-files', 'upload-queue'],
  embedded: ['service'],
  'embedded/api': ['context', 'metrics', 'routes', 'start-state'],
  'embedded/faults': ['control', 'faults'],
  'embedded/media': ['media', 'media-facts', 'probe'],
  'embedded/pages': ['pages'],
  'embedded/state': ['identity', 'keys', 'sessions', 'state', 'stored-record'],
  geotags: ['geotags'],
  http: ['http'],
  journal: ['journal'],
  rewrite: ['documents', 'plan', 'write-plan'],
  'rewrite/scan': ['reference', 'scan'],
  'output/progress': ['meter', 'progress'],
  'output/results': ['formats', 'results', 'template'],
  service: ['client', 'identity', 'record', 'service-url', 'uploader'],
  'sources/clipboard': ['clipboard'],
  'sources/find': ['expand', 'shard', 'survey'],
  'sources/media-type': ['decide'],
  'sources/media-type/sniff': ['sniff', 'text'],
  'sources/media-type/tracks': ['bytes', 'containers', 'isobmff'],
  'sources/media-type/types': ['extension-types', 'tables'],
  'sources/open': ['disk', 'file', 'source', 'spooled'],
  transfer: ['batch', 'options', 'outcome'],
  'transfer/attempt': ['attempt', 'explain', 'judge', 'rate-limit'],
};

/** The two contracts that every room shares are in none. */
const contracts = ['errors.ts', 'host.ts'];

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
    expect(imports).toContainEqual({from: 'http/connection.ts', to: 'undici', typeOnly: false, eager: true});
    expect(imports).toContainEqual({
      from: 'sources/media-type/decide.ts',
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
