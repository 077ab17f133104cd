import {createHash} from 'node:crypto';
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {expect} from 'vitest';
import {type EmbeddedService, startEmbeddedService} from '../../support/embedded-service.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {fixture, Sandbox, temporaryDirectory} from '../../support/media.ts';
import {type Fate, FaultyProxy, type Sighting} from './faulty-proxy.ts';

/** A file of the tree; names are given by their bytes, a character each. */
interface TreeFile {
  root: 'r1' | 'r 2';
  path: string;
  content: 'empty' | 'page' | number;
}

/** When the client is killed: as the proxy sees something for the n-th time, or the n-th line comes out. */
type Kill = {on: Sighting | 'line'; count: number};

interface Story {
  files: TreeFile[];
  fates: Fate[];
  kills: Kill[];
  concurrency: number;
}

/** `honoured`: the service knows Idempotency-Key. `hold`: a person settles what is unknown. `retry`: it is sent again. */
type Mode = 'honoured' | 'hold' | 'retry';

const isLinux = process.platform === 'linux';
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

const names = [
  'a',
  'b c',
  'q\'uo"te',
  '-dash',
  '#1 100%',
  '*',
  'Ünïcode',
  'u\u0308',
  '日本',
  '\u{1f600}',
  'new\nline',
]
  .map(bytesOf)
  // Other systems take no such names.
  .concat(isLinux ? ['caf\xe9', '\xff\xfe'] : []);
const directories = ['', 'd/', 'd d/', `${bytesOf('ü')}/x/`].concat(isLinux ? ['\xe9/'] : []);

const file: fc.Arbitrary<TreeFile> = fc.record({
  root: fc.constantFrom('r1', 'r 2'),
  path: fc
    .tuple(fc.constantFrom(...directories), fc.constantFrom(...names))
    .map(([directory, name]) => `${directory}${name}.png`),
  content: fc.oneof({weight: 8, arbitrary: fc.integer({min: 0, max: 6})}, fc.constantFrom('empty', 'page')),
});

const share = fc.double({min: 0, max: 1, noNaN: true});
const cut = fc.constantFrom('reset', 'end');
const fate: fc.Arbitrary<Fate> = fc.oneof(
  fc.constant<Fate>({kind: 'pass'}),
  fc.record({kind: fc.constant('cut'), share: fc.oneof(share, fc.constant(1)), cut}),
  fc.record({kind: fc.constant('answer'), share, status: fc.constantFrom(408, 429, 500, 503)}),
  fc.record({
    kind: fc.constant('answer'),
    share: fc.constant(1),
    status: fc.constantFrom(415, 429, 500, 503),
  }),
  fc.record({kind: fc.constant('lose'), share: share.map(value => value * 0.99), cut}),
  fc.record({
    kind: fc.constant('distort'),
    status: fc.constantFrom(200, 502),
    body: fc.constantFrom('', '{}', '<html>', '{"id":'),
  }),
);

const kill: fc.Arbitrary<Kill> = fc.oneof(
  fc.record({
    on: fc.constantFrom<Kill['on']>('head', 'whole', 'stored', 'answered', 'line'),
    count: fc.integer({min: 1, max: 6}),
  }),
  fc.record({on: fc.constant<Kill['on']>('body'), count: fc.integer({min: 1, max: 400_000})}),
);

const story: fc.Arbitrary<Story> = fc.record({
  files: fc.uniqueArray(file, {
    minLength: 1,
    maxLength: 16,
    selector: ({root, path}) => `${root}/${path}`,
  }),
  fates: fc.array(fate, {maxLength: 8}),
  kills: fc.array(kill, {minLength: 1, maxLength: 2}),
  concurrency: fc.constantFrom(1, 3, 8),
});

interface Line {
  file: string;
  fileBase64?: string;
  status: 'uploaded' | 'skipped' | 'failed' | 'unknown';
  record?: {id: string};
  error?: {code: string};
}

interface JournalLine {
  event: string;
  idempotencyKey: string;
  path?: string;
  pathBase64?: string;
  as?: string;
  record?: {id: string};
}

/** A path by its bytes, a character each, as it stands in NDJSON. */
function pathIn(text: string, base64: string | undefined): string {
  return base64 === undefined ? bytesOf(text) : Buffer.from(base64, 'base64').toString('latin1');
}

/** The lines that came out whole. */
function parsed<T>(text: string): T[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as T);
}

/** One story told to its end, and what has to be true then. */
class Telling {
  readonly #story: Story;
  readonly #mode: Mode;
  readonly #sandbox: Sandbox;
  readonly #service: EmbeddedService;
  readonly #proxy: FaultyProxy;
  readonly #contents: Map<TreeFile['content'], Buffer>;
  /** What each run printed. */
  readonly #printed: Line[][] = [];

  constructor(
    story: Story,
    mode: Mode,
    parts: {
      sandbox: Sandbox;
      service: EmbeddedService;
      proxy: FaultyProxy;
      contents: Map<TreeFile['content'], Buffer>;
    },
  ) {
    this.#story = story;
    this.#mode = mode;
    this.#sandbox = parts.sandbox;
    this.#service = parts.service;
    this.#proxy = parts.proxy;
    this.#contents = parts.contents;
  }

  async tell(): Promise<void> {
    await this.#writeTree();
    if (this.#mode === 'honoured') {
      await this.#media('config', 'set', 'base-url', this.#sandbox.env['MEDIA_BASE_URL'] ?? '');
      await this.#media('config', 'set', 'idempotency-keys', 'honoured');
    }
    for (const kill of this.#story.kills) await this.#run(kill);
    // Each round takes at least one fault out of the story, or ends.
    for (let round = 0; round < 20; round += 1) {
      const isEnded = (await this.#run()).every(line => line.status !== 'unknown' && !isPassing(line));
      if (isEnded) return this.#judge();
      if (this.#mode === 'hold') await this.#settle();
    }
    throw new Error('it came to no end in 20 runs');
  }

  async #writeTree(): Promise<void> {
    for (const {root, path, content} of this.#story.files) {
      const directory = path.slice(0, path.lastIndexOf('/') + 1);
      const target = (name: string) =>
        Buffer.concat([Buffer.from(`${this.#sandbox.directory}/${root}/`), Buffer.from(name, 'latin1')]);
      await mkdir(target(directory), {recursive: true});
      await writeFile(target(path), this.#contents.get(content) ?? '');
    }
  }

  get #roots(): string[] {
    return [...new Set(this.#story.files.map(({root}) => root))];
  }

  #media(...parameters: string[]) {
    return this.#sandbox.run(parameters);
  }

  /** The command under test, always the same; resolves to what it printed. */
  async #run(kill?: Kill): Promise<Line[]> {
    const {concurrency} = this.#story;
    const client = this.#sandbox.start([
      ...['upload', '-r', ...this.#roots, '--journal', 'j', '--ndjson', '-q'],
      ...['-c', String(concurrency), '--retries', '2'],
      ...(this.#mode === 'retry' ? ['--on-unknown', 'retry'] : []),
    ]);
    let left = kill?.count ?? Number.POSITIVE_INFINITY;
    const see = (what: Kill['on'], count: number) => {
      if (what !== kill?.on || left <= 0) return;
      left -= count;
      if (left <= 0) client.kill('SIGKILL');
    };
    this.#proxy.onSighting = (sighting, bytes) => see(sighting, sighting === 'body' ? bytes : 1);
    client.stdout?.on('data', (bytes: Buffer) => {
      see('line', bytes.toString('latin1').split('\n').length - 1);
    });
    const {stdout, stderr, exitCode, signal} = await client;
    await this.#proxy.idle();
    const lines = parsed<Line>(stdout);
    this.#printed.push(lines);
    if (signal === 'SIGKILL') expect(kill, stderr).toBeDefined();
    else expect([0, 1, 3, 5], stderr).toContain(exitCode);
    return lines;
  }

  /** What a person does who can see the service's store. */
  async #settle(): Promise<void> {
    const listed = parsed<{file: string; fileBase64?: string; status: string; idempotencyKey: string}>(
      (await this.#media('journal', 'list', '--json', 'j')).stdout,
    ).filter(({status}) => status === 'unknown');
    const paths = listed.map(({file, fileBase64}) => pathIn(file, fileBase64));
    const settled = new Set<string>();
    for (const [index, {file, fileBase64, idempotencyKey}] of listed.entries()) {
      // One upload may stand under the paths of several files with the same content.
      if (settled.has(idempotencyKey)) continue;
      settled.add(idempotencyKey);
      const [id] = this.#proxy.stored.get(idempotencyKey) ?? [];
      // A path under both roots says nothing about which of them is meant.
      const isAlone = paths.indexOf(paths[index] ?? '') === paths.lastIndexOf(paths[index] ?? '');
      const {exitCode, stderr} = await this.#media(
        ...['journal', 'resolve', ...(id === undefined ? ['--resend'] : ['--uploaded', id])],
        ...['--', 'j', isAlone && fileBase64 === undefined ? file : idempotencyKey],
      );
      expect(exitCode, stderr).toBe(0);
    }
  }

  async #judge(): Promise<void> {
    const records = await this.#service.records();
    const hashes = new Map(records.map(({record, sha256}) => [String(record.id), sha256]));
    const journal = parsed<JournalLine>(await readFile(join(this.#sandbox.directory, 'j'), 'utf8')).slice(1);
    const ids = this.#judgeLastRun(hashes);
    this.#judgeStore(
      ids,
      records.map(({record}) => String(record.id)),
      journal,
    );
    this.#judgeJournal(ids, journal);
    await this.#judgeCheck();
  }

  /** Every input on a line of its own, each good one with the ID of a stored record of its content; resolves to those. */
  #judgeLastRun(hashes: Map<string, string>): Set<string> {
    const {files} = this.#story;
    const lines = new Map(
      (this.#printed.at(-1) ?? []).map(line => [pathIn(line.file, line.fileBase64), line]),
    );
    expect(this.#printed.at(-1)).toHaveLength(files.length);
    const ids = new Set<string>();
    for (const file of files) {
      const line = lines.get(`${file.root}/${file.path}`);
      if (file.content === 'empty' || file.content === 'page') {
        expect(line).toMatchObject({status: 'failed', error: {code: badCodes[file.content]}});
      } else {
        expect(line?.status).toMatch(/^(uploaded|skipped)$/);
        const id = line?.record?.id ?? '';
        expect(hashes.get(id), `the content of ${file.path}`).toBe(this.#hash(file));
        ids.add(id);
      }
    }
    return ids;
  }

  /** No file is stored twice, unless a person allowed to send again what was on record as unknown. */
  #judgeStore(listed: Set<string>, stored: string[], journal: JournalLine[]): void {
    const good = this.#story.files.filter(({content}) => typeof content === 'number');
    // Of one content one record, under whatever paths.
    expect(listed.size).toBe(new Set(good.map(({content}) => content)).size);
    const extra = stored.filter(id => !listed.has(id));
    if (this.#mode !== 'retry') {
      expect(extra).toEqual([]);
      return;
    }
    for (const [key, copies] of this.#proxy.stored) {
      const commits = journal.filter(
        ({event, idempotencyKey}) => event === 'commit' && idempotencyKey === key,
      );
      // Each copy was released, and each release was on record before.
      expect(commits.length, `${key} stored as ${copies}`).toBeGreaterThanOrEqual(copies.length);
      expect(copies.filter(id => listed.has(id)).length, `${key} stored as ${copies}`).toBe(1);
    }
  }

  /** What was ever printed as stored is what the journal has as done, and the other way round. */
  #judgeJournal(listed: Set<string>, journal: JournalLine[]): void {
    const keyOfId = new Map(
      journal.flatMap(({record, idempotencyKey}) =>
        record === undefined ? [] : [[record.id, idempotencyKey] as const],
      ),
    );
    expect(new Set(keyOfId.keys())).toEqual(listed);
    const seen = new Set(
      journal
        .filter(({path}) => path !== undefined)
        .map(({idempotencyKey, path = '', pathBase64}) => `${idempotencyKey} ${pathIn(path, pathBase64)}`),
    );
    const uploaded: string[] = [];
    for (const {file, fileBase64, status, record} of this.#printed.flat()) {
      if (record === undefined) continue;
      const path = pathIn(file, fileBase64);
      expect(seen, path).toContain(`${keyOfId.get(record.id)} ${path.slice(path.indexOf('/') + 1)}`);
      if (status === 'uploaded') uploaded.push(record.id);
    }
    // Told as uploaded once, as skipped ever after.
    expect(new Set(uploaded).size).toBe(uploaded.length);
  }

  async #judgeCheck(): Promise<void> {
    const bad = this.#story.files.filter(({content}) => typeof content !== 'number');
    const {stdout, exitCode} = await this.#media('journal', 'check', '--json', 'j', '--', ...this.#roots);
    const faulty = parsed<{status: string}>(stdout);
    expect(faulty.map(({status}) => status)).toEqual(bad.map(() => 'refused'));
    expect(exitCode).toBe(bad.length === 0 ? 0 : 1);
  }

  #hash({content}: TreeFile): string {
    return createHash('sha256')
      .update(this.#contents.get(content) ?? '')
      .digest('hex');
  }
}

const badCodes = {empty: 'empty_file', page: 'not_media'};

/** Whether another run can still end it otherwise. */
function isPassing({status, error}: Line): boolean {
  return status === 'failed' && !Object.values(badCodes).includes(error?.code ?? '');
}

/** Pictures of one chunk and of several; 5 and 6 are of one size. */
async function pool(): Promise<Map<TreeFile['content'], Buffer>> {
  const png = await readFile(fixture('photo.png'));
  const contents = new Map<TreeFile['content'], Buffer>([
    ['empty', Buffer.alloc(0)],
    ['page', Buffer.from('<!doctype html><title>Not found</title>')],
  ]);
  for (let index = 0; index < 7; index += 1) {
    const padding = Buffer.alloc([0, 1, 40_000, 70_000, 300_000, 90_000, 90_000][index] ?? 0, index);
    contents.set(index, Buffer.concat([png, padding, Buffer.from(String(index))]));
  }
  return contents;
}

async function tellStory(story: Story, mode: Mode): Promise<void> {
  const contents = await pool();
  const [dataDirectory, directory] = [await temporaryDirectory(), await temporaryDirectory()];
  const service = await startEmbeddedService({dataDirectory, idempotency: mode === 'honoured'});
  const proxy = new FaultyProxy(service.url, story.fates);
  try {
    const sandbox = new Sandbox(directory, {
      MEDIA_BASE_URL: await proxy.listen(),
      MEDIA_API_KEY: await service.createKey(),
    });
    await new Telling(story, mode, {sandbox, service, proxy, contents}).tell();
  } finally {
    await proxy.close();
    await service.close();
    for (const used of [dataDirectory, directory]) await rm(used, {recursive: true, force: true});
  }
}

const stories = {short: 3, long: 60};

for (const mode of ['honoured', 'hold', 'retry'] as const) {
  experiment(`a random tree, random faults, kill -9 at random points, ${titles(mode)}`, async trial => {
    let tried = 0;
    const property = fc.asyncProperty(story, async told => {
      tried += 1;
      await tellStory(told, mode);
    });
    const seed = Math.floor(trial.random() * 2 ** 31);
    const {failed, error, counterexample} = await fc
      .check(property, {seed, numRuns: stories[trial.scale], endOnFailure: true})
      .then(details => ({...details, error: details.errorInstance}));
    return {
      tried,
      held: failed ? tried - 1 : tried,
      broken: failed ? [`${error} in ${JSON.stringify(counterexample)}`] : [],
      note: 'every input stored once, listed once, proven by journal check',
    };
  });
}

function titles(mode: Mode): string {
  return {
    honoured: 'keys honoured: nothing lost, nothing twice',
    hold: 'unknowns settled by hand: nothing lost, nothing twice',
    retry: 'unknowns sent again: nothing lost, nothing twice but what was on record',
  }[mode];
}
