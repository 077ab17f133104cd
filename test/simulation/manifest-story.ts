import {parseManifest, renderManifest} from '../../src/engine/manifest/manifest-file.ts';
import {mergeManifests} from '../../src/engine/manifest/merge-manifests.ts';
import {openManifest} from '../../src/engine/manifest/run-manifest.ts';
import {Disk} from '../../src/engine/sources/open/disk.ts';
import {sourceAt} from '../../src/engine/sources/open/file-source.ts';
import {uploadBatch} from '../../src/engine/transfer/batch.ts';
import type {LeftOut, Outcome} from '../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../src/errors.ts';
import {Stop} from '../../src/lib/stop.ts';
import {received} from '../support/received.ts';
import {seededRandom} from '../support/seeded.ts';
import {Disks, ext4} from './disk.ts';
import {type Faults, type Machine, Process} from './process.ts';
import {SimulatedService, sha256} from './service.ts';
import {World} from './world.ts';

const service = 'https://a.example';
const manifestPath = '/a/media.json';
const journalPath = `${manifestPath}.journal`;
const nobody = () => {};
const noObserver = {
  ...{started: nobody, progress: nobody, retrying: nobody, unavailable: nobody},
  ...{finished: nobody, warning: nobody},
};

/** A commit of a repository: what its files contain, by their keys, and its manifest, empty if there is none. */
interface Commit {
  files: ReadonlyMap<string, Buffer>;
  manifest: string;
}

/** The result of a story: what was broken, and how often content was stored again that nothing here knew, and why. */
export interface ManifestStory {
  broken: string[];
  story: string[];
  again: Record<string, number>;
}

/** Tells the story of a seed: one repository, machines that come and go, a service, and what happens to them. */
export async function tellManifestStory(seed: number): Promise<ManifestStory> {
  const story = new Story(new World(seededRandom(seed)));
  await story.tell();
  return {broken: [...story.broken], story: story.world.story, again: story.again};
}

class Story {
  readonly world: World;
  readonly broken = new Set<string>();
  readonly again: Record<string, number> = {};
  readonly #service: SimulatedService;
  readonly #concurrency: number;
  #disks: Disks;
  #machine: Machine;
  #pids = 100;
  #names = 0;
  #boots = 0;
  readonly #history: Commit[] = [];
  /** What is stored of runs whose journal is still there: its contents, each with a key that it had. */
  #left: [content: string, key: string][] = [];
  /** Whether the run has written its manifest, as far as it knows. */
  #isWritten = false;
  /** Why content is not known any more. */
  readonly #forgotten = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
    const traits = {honoursKeys: world.oneIn(2), troubleOneIn: world.pick([2, 4, 20])};
    this.#service = new SimulatedService(world, traits);
    this.#concurrency = world.pick([1, 3]);
    [this.#disks, this.#machine] = this.#newMachine();
  }

  #newMachine(): [Disks, Machine] {
    this.#boots += 1;
    const disks = new Disks(this.world, {'/a': ext4});
    disks.mkdir('/a/assets');
    disks.settle();
    return [disks, {world: this.world, disks, alive: new Set(), bootId: `boot ${this.#boots}`}];
  }

  async tell(): Promise<void> {
    for (let count = 3 + this.world.below(4); count > 0; count -= 1) this.#write(this.#newKey());
    for (let turn = 3 + this.world.below(5); turn > 0; turn -= 1) {
      await this.#run();
      await this.#change();
      if (this.world.oneIn(3)) await this.#settle();
    }
    this.#service.isFair = true;
    await this.#run('none');
    await this.#settle();
    await this.#finish();
  }

  // What people do with their repository.

  #newKey(): string {
    this.#names += 1;
    return `assets/${this.#names}.png`;
  }

  /** Writes one of a few contents, some of which have equal sizes, and some of which are sent in two chunks. */
  #write(key: string, content = this.#draw()): void {
    const inode = this.#disks.get(`/a/${key}`) ?? this.#disks.create(`/a/${key}`);
    inode.replace(content);
    inode.mtimeNs = inode.ctimeNs = this.#disks.timeNs(key);
    this.world.tell(`${key} has content ${sha256(content).slice(0, 6)}`);
  }

  #draw(): Buffer {
    const number = this.world.below(9);
    return Buffer.from(number < 7 ? `content ${number}` : `large ${number} `.repeat(8_300));
  }

  get #keys(): string[] {
    return this.#disks.list('/a/assets').map(name => `assets/${name}`);
  }

  #contentOf(key: string): Buffer {
    return Buffer.from(this.#disks.get(`/a/${key}`)?.content ?? '');
  }

  get #manifestText(): string {
    return this.#disks.get(manifestPath)?.content.toString() ?? '';
  }

  #setManifest(text: string): void {
    if (text === '') {
      if (this.#disks.get(manifestPath) !== undefined) this.#disks.unlink(manifestPath);
    } else (this.#disks.get(manifestPath) ?? this.#disks.create(manifestPath)).replace(Buffer.from(text));
  }

  get #manifest() {
    const text = this.#manifestText || `{"version":1,"service":"${service}"}`;
    return parseManifest(text, manifestPath);
  }

  async #change(): Promise<void> {
    const {world} = this;
    const key = world.pick(this.#keys);
    const commit = world.pick(this.#history);
    switch (world.below(9)) {
      case 0:
        this.#disks.rename(`/a/${key}`, `/a/${this.#newKey()}`);
        world.tell(`${key} is renamed to the name after`);
        break;
      case 1:
        this.#write(this.#newKey(), this.#contentOf(key));
        break;
      case 2:
        this.#write(key);
        break;
      case 3:
        this.#write(this.#newKey());
        break;
      case 4:
        if (this.#keys.length > 2) this.#disks.unlink(`/a/${key}`);
        break;
      case 5:
        this.#commit();
        break;
      case 6:
        if (commit !== undefined) this.#forgetting('in another commit', () => this.#checkOut(commit));
        break;
      case 7:
        if (commit !== undefined) await this.#join(commit);
        break;
      default:
        this.#forgetting('lost with its machine', () => {
          const files = new Map(this.#keys.map(one => [one, this.#contentOf(one)]));
          world.tell('the machine is lost with its disk');
          [this.#disks, this.#machine] = this.#newMachine();
          this.#left = [];
          this.#checkOut(this.#history.at(-1) ?? {files, manifest: ''});
        });
    }
    this.#disks.settle();
  }

  #commit(): void {
    const files = new Map(this.#keys.map(key => [key, this.#contentOf(key)]));
    this.#history.push({files, manifest: this.#manifestText});
    this.world.tell(`${files.size} files are committed`);
  }

  /** The journal is in no commit: it stays as it is. */
  #checkOut({files, manifest}: Commit): void {
    this.world.tell('a commit is checked out');
    for (const key of this.#keys) this.#disks.unlink(`/a/${key}`);
    for (const [key, content] of files) this.#write(key, Buffer.from(content));
    this.#setManifest(manifest);
  }

  /** Joins a commit to what is here, as `media journal merge` does. */
  async #join({files, manifest}: Commit): Promise<void> {
    this.world.tell('a commit is joined');
    for (const [key, content] of files)
      if (this.#disks.get(`/a/${key}`) === undefined) this.#write(key, Buffer.from(content));
    if (manifest === '') return;
    const [theirs, ours] = [parseManifest(manifest, manifestPath), this.#manifest];
    const before = new Set([theirs, ours].flatMap(one => [...contentsOf(one)]));
    const hashOf = async (key: string) => sha256(this.#contentOf(key));
    const merged = await mergeManifests(undefined, theirs, ours, hashOf);
    this.#setManifest(renderManifest(merged));
    for (const content of before) {
      if (contentsOf(merged).has(content)) continue;
      const ofContent = [...theirs.files, ...ours.files].filter(([, entry]) => entry.sha256 === content);
      if (ofContent.some(([key]) => !merged.files.has(key))) this.broken.add(`a join loses ${content}`);
      this.#forgotten.set(content, 'replaced');
    }
  }

  /** All content that the files here know: the manifest, and the journal of a run that was killed. */
  #known(): Set<string> {
    return new Set([...contentsOf(this.#manifest), ...this.#left.map(([content]) => content)]);
  }

  /** Notes why content is not known any more. */
  #forgetting(reason: string, action: () => void): void {
    const before = this.#known();
    action();
    const after = this.#known();
    for (const content of before) if (!after.has(content)) this.#forgotten.set(content, reason);
  }

  // What happens to a run.

  async #run(
    fault = this.world.pick(['none', 'none', 'kill', 'power', 'signal', 'second', 'edit', 'disk'] as const),
  ): Promise<Outcome[]> {
    const {world} = this;
    const process = this.#process(fault === 'disk' ? this.#faults() : {});
    const contents = new Map(this.#keys.map(key => [key, sha256(this.#contentOf(key))]));
    this.#isWritten = false;
    this.#disks.settle();
    const {files, unknown} = this.#manifest;
    // With a key that the service knows, what may be stored is sent again, and stored once under that key.
    const known = this.#service.traits.honoursKeys ? contentsOf(this.#manifest) : this.#known();
    const storedNow = new Set<string>();
    this.#service.onStored = content => {
      if (this.#service.with(content).length < 2) return void storedNow.add(content);
      const why = this.#forgotten.get(content);
      if (known.has(content) || storedNow.has(content) || why === undefined)
        this.broken.add(`${content.slice(0, 6)} is stored twice although it was known`);
      else this.again[why] = (this.again[why] ?? 0) + 1;
      storedNow.add(content);
    };
    const stop = new Stop<MediaError>();
    let cut = nobody;
    const killed = new Promise<undefined>(resolve => {
      cut = () => resolve(undefined);
    });
    const others: Promise<unknown>[] = [];
    let isOver = false;
    const moment = world.random() * world.pick([20, 100, 400]);
    world.after(moment, () => {
      if (isOver) return;
      if (fault !== 'none') world.tell(`${fault}, process ${process.pid}`);
      if (fault === 'signal') stop.abort(new MediaError('interrupted', 'Ctrl-C'));
      if (fault === 'second') others.push(this.#upload(this.#process(), new Stop()).catch(expected));
      if (fault === 'edit') this.#edit();
      if (fault !== 'kill' && fault !== 'power') return;
      process.kill();
      if (fault === 'power') {
        this.#disks.crash();
        this.#boots += 1;
        this.#machine.bootId = `boot ${this.#boots}`;
      }
      cut();
    });
    world.tell(`process ${process.pid} begins, ${contents.size} files`);
    const outcomes = await world.until(Promise.race([this.#upload(process, stop).catch(expected), killed]));
    for (const other of others) await world.until(other);
    isOver = true;
    // What is on its way arrives.
    await world.until(this.#process().step(nobody, 1000));
    process.exit();
    const doubted = [...unknown.values()].map(one => one.sha256);
    const before = [...files].map(([key, entry]): [string, string] => [entry.sha256, key]);
    this.#judge(outcomes ?? [], {contents, stored: storedNow, doubted, before});
    return outcomes ?? [];
  }

  #process(faults: Faults = {}): Process {
    this.#pids += 1;
    return new Process(this.#machine, {pid: this.#pids, namespace: 'pid:[1]', faults});
  }

  #faults(): Faults {
    const {world} = this;
    if (world.oneIn(2)) return {room: world.below(4000), fullMs: world.pick([undefined, 1, 200])};
    return {failing: {call: 1 + world.below(80), code: world.pick(['EIO', 'ENOSPC'])}, shortOneIn: 3};
  }

  /** Somebody else adds an entry to the manifest while a run goes on. */
  #edit(): void {
    const manifest = this.#manifest;
    const record = received('{"id":"other"}');
    const entry = {sha256: sha256('of others'), size: 9, contentType: 'image/png', received: record};
    manifest.files.set('others.png', entry);
    this.#setManifest(renderManifest(manifest));
    this.#disks.settle();
  }

  async #upload(process: Process, stop: Stop<MediaError>): Promise<Outcome[]> {
    const {host} = process;
    const disk = new Disk(host.files, host.clock);
    const sources = this.#keys.map(key => sourceAt(disk, key, `/a/${key}`, false));
    const journal = await openManifest('media.json', host, {service, stop});
    const outcomes: Outcome[] = [];
    try {
      const results: AsyncIterable<Outcome | LeftOut> = uploadBatch(sources, {
        ...{uploader: this.#service.uploader(process), host: 'a.example', stop, journal},
        ...{clock: host.clock, random: host.random, uuid: host.uuid, typeRule: 'extension'},
        contentType: async () => ({contentType: 'image/png'}),
        ...{several: true, concurrency: this.#concurrency, retries: 2},
        ...{timeoutMs: 10_000, retryMaxWaitMs: 60_000, onUnknown: 'declared'},
        ...{dryRun: false, observer: noObserver},
      });
      for await (const outcome of results) if (outcome.status !== 'left out') outcomes.push(outcome);
    } catch (error) {
      expected(error);
    } finally {
      await journal.close().then(() => {
        this.#isWritten = true;
      }, expected);
    }
    return outcomes;
  }

  /** What a run leaves is what it has reported. */
  #judge(
    outcomes: readonly Outcome[],
    run: {
      contents: ReadonlyMap<string, string>;
      stored: ReadonlySet<string>;
      doubted: readonly string[];
      before: readonly [content: string, key: string][];
    },
  ): void {
    for (const {file: name, status} of outcomes) this.world.tell(`${name} is ${status}`);
    const {contents} = run;
    for (const [key, content] of contents) if (run.stored.has(content)) this.#left.push([content, key]);
    this.#disks.settle();
    if (this.#disks.get(journalPath) !== undefined) return;
    const left = [...this.#left, ...run.before];
    this.#left = [];
    const {files, unknown: doubted} = this.#manifest;
    const doubtedContents = new Set([...doubted.values()].map(one => one.sha256));
    for (const content of run.doubted)
      if (!doubtedContents.has(content)) this.broken.add(`${content} is not unknown any more`);
    // Where the disk fails, the run says so.
    for (const outcome of this.#isWritten ? outcomes : []) {
      const content = contents.get(outcome.file) ?? '';
      const entry = files.get(outcome.file);
      // With its key, a later file of equal content may have been sent again, and be stored.
      if (outcome.status === 'unknown' && !contentsOf(this.#manifest).has(content))
        this.broken.add(`${outcome.file} is unknown, and not in the manifest`);
      if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') continue;
      const id = entry?.received.record.id;
      const isStored = this.#service.stored.some(one => one.id === id && one.sha256 === content);
      if (entry?.sha256 !== content || !isStored)
        this.broken.add(`${outcome.file} is ${outcome.status}, and in the manifest as ${id}`);
    }
    for (const [content] of left) {
      if (contentsOf(this.#manifest).has(content)) continue;
      // Other content has its key now.
      this.#forgotten.set(content, 'replaced');
      if (!left.some(([other, key]) => other === content && files.has(key)))
        this.broken.add(`${content.slice(0, 6)} was known, and is not any more`);
    }
  }

  /** What a person does who can look into the service. */
  async #settle(): Promise<void> {
    const manifest = this.#manifest;
    if (manifest.unknown.size === 0) return;
    this.world.tell('what is unknown is settled');
    for (const [key, {sha256: content, size}] of manifest.unknown) {
      const [found] = this.#service.with(content);
      if (found === undefined) continue;
      const record = received(JSON.stringify({id: found.id}));
      const entry = {sha256: content, size, contentType: 'image/png', received: record};
      manifest.files.set(`settled/${key}`, entry);
    }
    manifest.unknown.clear();
    this.#setManifest(renderManifest(manifest));
    this.#disks.settle();
  }

  /** A last run without troubles: every file is stored, and known. Then another sends nothing, and touches nothing. */
  async #finish(): Promise<void> {
    for (const {file: name, status} of await this.#run('none'))
      if (status !== 'uploaded' && status !== 'skipped') this.broken.add(`${name} is ${status} in the end`);
    for (const key of this.#keys)
      if (this.#manifest.files.get(key)?.sha256 !== sha256(this.#contentOf(key)))
        this.broken.add(`${key} is lost`);
    const inode = this.#disks.get(manifestPath);
    const [text, stored] = [this.#manifestText, this.#service.stored.length];
    await this.#run('none');
    if (this.#manifestText !== text || this.#disks.get(manifestPath) !== inode)
      this.broken.add('a run with nothing to send changes the manifest');
    if (this.#service.stored.length !== stored) this.broken.add('the last run sends something');
    // A process that is killed may leave what it was making a lock of, or removing one with.
    const rest = this.#disks.list('/a').filter(name => !/^(assets\/|\.media-)|\.breaker$/.test(name));
    if (rest.join() !== 'media.json') this.broken.add(`a run leaves ${rest.join(', ')}`);
  }
}

function contentsOf({files, unknown}: ReturnType<typeof parseManifest>): Set<string> {
  return new Set([...files.values(), ...unknown.values()].map(entry => entry.sha256));
}

/** A run may end because its journal is in use, or because the disk fails. */
function expected(error: unknown): undefined {
  if (error instanceof MediaError && /^(journal_(failed|in_use|unusable)|interrupted)$/.test(error.code))
    return;
  throw error;
}
