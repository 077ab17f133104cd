import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';

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

/** Which package may be imported where: each has one owner, the embedded service has its own. */
const owners: Record<string, string[]> = {
  commander: ['commands/', 'completion/', 'main.ts'],
  '@clack/prompts': ['commands/prompt.ts'],
  undici: ['http-connection.ts', 'http-connector.ts', 'http-exchange.ts', 'http-tunnel.ts', 'http-trace.ts'],
  'mime-types': ['sources/content-type.ts'],
  'file-type': ['sources/sniff.ts'],
  conf: ['settings/store.ts'],
  'env-paths': ['settings/paths.ts'],
  ora: ['output/progress.ts'],
  'cli-table3': ['output/table.ts'],
  '@napi-rs/keyring': ['settings/keychain-child.ts'],
  open: ['commands/upload-after.ts'],
  uqr: ['output/qr.ts'],
  'ci-info': ['output/terminal.ts'],
  picomatch: ['sources/patterns.ts'],
  mediabunny: ['sources/sniff-audio.ts', 'embedded/'],
  'image-size': ['embedded/'],
  graphql: ['embedded/'],
  'graphql-http': ['embedded/'],
  send: ['embedded/'],
};

/** What each room may import from the others; files at the root of src are rooms of their own. */
const allowed: Record<string, string[]> = {
  commands: [
    'settings',
    'sources',
    'journal',
    'transfer',
    'service',
    'output',
    'embedded',
    'defined.ts',
    'host.ts',
    'errors.ts',
    'json.ts',
    'http.ts',
    'package-file.ts',
    'secret.ts',
    'shell.ts',
    'typed-path.ts',
    'version.ts',
  ],
  completion: ['commands', 'errors.ts', 'host.ts', 'output', 'settings', 'sources'],
  settings: [
    'defined.ts',
    'errors.ts',
    'host.ts',
    'json.ts',
    'lock.ts',
    'loopback.ts',
    'secret.ts',
    'shape.ts',
    'shell.ts',
    'typed-path.ts',
  ],
  sources: ['errors.ts', 'host.ts', 'shell.ts', 'typed-path.ts'],
  journal: ['errors.ts', 'json.ts', 'host.ts', 'lock.ts', 'sources', 'typed-path.ts'],
  transfer: ['errors.ts', 'in-order.ts', 'json.ts', 'host.ts', 'http.ts', 'journal', 'service', 'sources'],
  service: ['errors.ts', 'json.ts', 'host.ts', 'http.ts', 'http-unsent.ts', 'secret.ts'],
  output: ['errors.ts', 'host.ts', 'in-order.ts', 'service', 'transfer'],
  embedded: ['defined.ts', 'host.ts', 'json.ts', 'service', 'shape.ts'],
  'main.ts': ['commands', 'errors.ts', 'host.ts', 'output'],
  'http.ts': ['http-connection.ts', 'http-message.ts', 'http-options.ts', 'http-proxy.ts'],
  'http-connection.ts': [
    'errors.ts',
    'http-connector.ts',
    'http-errors.ts',
    'http-exchange.ts',
    'http-message.ts',
    'http-options.ts',
    'http-trace.ts',
  ],
  'http-exchange.ts': ['http-connector.ts', 'http-message.ts', 'http-trace.ts', 'http-wire.ts'],
  'http-connector.ts': [
    'host.ts',
    'http-errors.ts',
    'http-options.ts',
    'http-proxy.ts',
    'http-trace.ts',
    'http-tunnel.ts',
    'http-wire.ts',
  ],
  'http-options.ts': ['host.ts'],
  'http-tunnel.ts': ['errors.ts', 'http-errors.ts'],
  'http-wire.ts': ['http-message.ts'],
  'http-message.ts': ['host.ts'],
  'http-errors.ts': ['errors.ts'],
  'http-unsent.ts': ['host.ts', 'http-connector.ts', 'http-message.ts', 'http-options.ts'],
  'http-proxy.ts': ['errors.ts', 'host.ts', 'loopback.ts', 'proxy-variables.ts'],
  'http-trace.ts': ['host.ts'],
  'proxy-variables.ts': [],
  'lock.ts': ['errors.ts', 'host.ts', 'json.ts', 'shape.ts'],
  'host.ts': ['uuid.ts'],
  'uuid.ts': [],
  'typed-path.ts': [],
  'errors.ts': [],
  'secret.ts': [],
  'shell.ts': [],
  'defined.ts': [],
  'json.ts': [],
  'shape.ts': [],
  'in-order.ts': [],
  'loopback.ts': [],
  'package-file.ts': [],
  'version.ts': ['json.ts', 'package-file.ts'],
  library: [
    'embedded',
    'errors.ts',
    'host.ts',
    'http.ts',
    'service',
    'settings',
    'sources',
    'journal',
    'transfer',
    'version.ts',
  ],
  'index.ts': [
    'embedded',
    'errors.ts',
    'host.ts',
    'http.ts',
    'journal',
    'library',
    'service',
    'sources',
    'transfer',
  ],
};

/** Imports between rooms that may bring code along; every other import below a wall is of types only. */
const codeAllowed: Record<string, string[]> = {
  journal: ['errors.ts', 'json.ts', 'lock.ts', 'typed-path.ts'],
  transfer: ['errors.ts', 'in-order.ts', 'journal', 'json.ts', 'service/record.ts'],
  output: ['errors.ts', 'in-order.ts', 'service/record.ts'],
  embedded: ['defined.ts', 'host.ts', 'json.ts', 'shape.ts'],
  service: ['errors.ts', 'json.ts', 'http.ts', 'http-unsent.ts', 'service'],
};

/** Rooms whose files are part of no circle of imports. */
const withoutCircles = ['completion', 'embedded', 'library', 'output', 'settings'];

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
    expect(imports).toContainEqual({from: 'http-connection.ts', to: 'undici', typeOnly: false, eager: true});
    expect(imports).toContainEqual({from: 'settings/store.ts', to: 'conf', typeOnly: false, eager: false});
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
      ({from, to}) => room(from) !== room(to) && !(allowed[room(from)] ?? []).includes(room(to)),
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

  it.each(withoutCircles)('no file of %s imports itself by way of another, types included', name => {
    const inRoom = files.filter(file => room(file) === name);
    expect(inRoom.length).toBeGreaterThan(1);
    const circular = inRoom.filter(file =>
      local.some(({from, to}) => from === file && reachableFrom(to, () => true).has(file)),
    );
    expect(circular).toEqual([]);
  });

  it('heavy packages are imported only when needed', () => {
    const reachable = reachableFrom('main.ts', ({eager, typeOnly}) => eager && !typeOnly);
    const heavy = [
      'undici',
      'ora',
      'cli-table3',
      'conf',
      '@clack/prompts',
      'graphql',
      'mediabunny',
      'file-type',
    ];
    expect(heavy.filter(name => reachable.has(name))).toEqual([]);
  });

  it('process, console, timers and the clock appear in host.ts alone', () => {
    const pattern =
      /(?<![.\w'])(process\.[a-z]|console\.[a-z]|Date\.now\(|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\()/;
    const strip = (text: string) => text.replace(/\/\*.*?\*\//gs, '').replace(/\/\/.*$/gm, '');
    const wrong = files.filter(
      file => file !== 'host.ts' && pattern.test(strip(readFileSync(join(source, file), 'utf8'))),
    );
    expect(wrong).toEqual([]);
  });
});
