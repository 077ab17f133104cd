import type {Disposal} from '../../src/cli/commands/watch/disposal/disposal.ts';
import {Disk} from '../../src/engine/sources/open/disk.ts';
import {sourceAt} from '../../src/engine/sources/open/file-source.ts';
import type {Source} from '../../src/engine/sources/open/source.ts';
import {type TransferObserver, uploadBatch} from '../../src/engine/transfer/batch.ts';
import type {LeftOut, Outcome} from '../../src/engine/transfer/outcome.ts';
import {hasTrait, MediaError} from '../../src/errors.ts';
import {Stop} from '../../src/lib/stop.ts';
import {type Journal, openJournal} from '../support/journal.ts';
import {seededRandom} from '../support/seeded.ts';
import {Disks, type DiskTraits, ext4, fat, nfs} from './disk.ts';
import {Disposing} from './disposing.ts';
import {type Faults, type Machine, Process} from './process.ts';
import {libraryRun, streamOf} from './runs.ts';
import {SimulatedService, sha256} from './service.ts';
import {World} from './world.ts';

const scope = {service: 'https://a.example'};
const root = '/a/files';
const journalPath = '/a/journal';
/** Where files are moved to: by another name, or as copies on another device. */
const targets = ['/a/done', '/b/done'];
/** The shortest time between a record and a disposal, which then comes with the next second of the clock. */
const disposalMs = 10_000;
/** How long files stay as they are before media watch uploads them, which matters where times are of 2 seconds. */
const settleMs = 2_000;
const hour = 3_600_000;

const small = [0, 1, 2, 3, 4, 5].map(number => contentOf(`content ${number}`));
/** Contents that are sent in two chunks. */
const large = [0, 1].map(number => contentOf(`large ${number} `.repeat(8_300)));

const nobody = () => {};

const noObserver: TransferObserver = {
  ...{started: nobody, progress: nobody, retrying: nobody, unavailable: nobody},
  ...{finished: nobody, warning: nobody},
};

/** The result of a story: what was broken of what is promised, and how it came about. */
export interface Told {
  seed: number;
  broken: string[];
  story: string[];
  outcomes: number;
}

/** Tells the story of a seed: one directory, one journal, one service, and what people, disks and networks do to them. */
export async function tellStory(seed: number): Promise<Told> {
  const story = new Story(new World(seededRandom(seed)));
  await story.tell();
  return {seed, broken: [...story.broken], story: story.world.story, outcomes: story.outcomes};
}

class Story {
  readonly world: World;
  readonly broken = new Set<string>();
  outcomes = 0;
  readonly #disks: Disks;
  /** Whether two writes in the same second or so cannot be told apart. */
  readonly #isCoarse: boolean;
  readonly #machine: Machine;
  readonly #service: SimulatedService;
  readonly #concurrency: number;
  readonly #disposal: Disposal;
  /** When each file was last written, by its name. */
  readonly #writtenAt = new Map<string, number>();
  /** The content with which each file was moved, by its name. */
  readonly #moved = new Map<string, string>();
  /** What is piped into each run until it is stored, by its name. */
  readonly #streams = new Map<string, Content>();
  /** All contents that each file had, by its name. */
  readonly #contents = new Map<string, Set<string>>();
  /** Whether a run was kept from writing down what it knew: its journal may tell of a commit without its release. */
  #isCutShort = false;
  /** Whether a process has slept, which may write the rest of a line when another one has taken its journal over. */
  #hasSlept = false;
  #clockSetAt = 0;
  #pids = 100;
  #names = 0;
  #boots = 0;

  constructor(world: World) {
    this.world = world;
    const traits: DiskTraits = world.pick([ext4, ext4, ext4, nfs, fat]);
    this.#isCoarse = traits.timeUnitNs > 1_000_000_000n;
    this.#disks = new Disks(world, {'/a': traits, '/b': world.pick([ext4, fat])});
    this.#disks.mkdir(root);
    const [here, there] = targets;
    this.#disposal = world.pick(['keep', 'delete', {moveTo: `${here}`}, {moveTo: `${there}`}]);
    this.#disks.settle();
    this.#machine = {
      ...{world, disks: this.#disks, alive: new Set(), bootId: 'boot 0'},
      onUnlink: path => this.#judgeDisposal(path),
    };
    const honoursKeys = world.oneIn(2);
    this.#service = new SimulatedService(world, {honoursKeys, troubleOneIn: world.pick([2, 4, 20])});
    this.#concurrency = world.pick([1, 3, 8]);
    world.tell(
      `disk ${traits.type.toString(16)}, ${this.#concurrency} at a time, the service ${honoursKeys ? 'honours' : 'ignores'} keys, files: ${JSON.stringify(this.#disposal)}`,
    );
  }

  async tell(): Promise<void> {
    for (let count = 3 + this.world.below(5); count > 0; count -= 1) this.#write(this.#newName());
    if (this.world.oneIn(2)) this.world.now += settleMs;
    const runs = 2 + this.world.below(4);
    for (let run = 0; run < runs; run += 1) {
      if (this.world.oneIn(3)) this.#setClock();
      await this.#run();
      this.#change();
      if (this.world.oneIn(3)) await this.#settle();
    }
    await this.#settle();
    await this.#finish();
  }

  /** Somebody sets the clock of the machine, or a time server does. */
  #setClock(): void {
    this.world.clockOffset = this.world.pick([0, 10_000, -10_000, 24 * hour, -24 * hour]);
    this.#clockSetAt = this.world.now;
    this.world.tell(`the clock is ${this.world.clockOffset / 1000} s ahead`);
  }

  #newName(): string {
    this.#names += 1;
    return `${root}/${this.#names}.png`;
  }

  /** Writes one of a few contents, some of which have equal sizes, and one of which is sent in several chunks. */
  #write(path: string): void {
    const number = this.world.below(7);
    const content = (number < 6 ? small[number] : large[this.world.below(2)]) as Content;
    const written = this.#disks.get(path);
    const writtenAt = this.#writtenAt.get(nameOf(path)) ?? 0;
    // What is written twice in a unit of a disk's times, while the clock is set, cannot be told: docs/guarantees.md, Limits.
    if (this.#isCoarse && this.#clockSetAt >= writtenAt)
      this.world.now = Math.max(this.world.now, writtenAt + settleMs);
    // A power cut in a move may leave both names of a file: to write it in place would change what was moved, too.
    const isMoved = written !== undefined && this.#disks.countNames(written) > 1;
    const inode = written === undefined || isMoved ? this.#disks.create(path) : written;
    const {mtimeNs} = inode;
    inode.replace(content.bytes);
    inode.sync();
    // Some programs keep the time of what they change.
    inode.mtimeNs = mtimeNs > 0n && this.world.oneIn(3) ? mtimeNs : this.#disks.timeNs(path);
    inode.ctimeNs = this.#disks.timeNs(path);
    this.#remember(path, content.sha256);
    this.world.tell(`${path} has content ${content.sha256.slice(0, 6)}`);
  }

  #remember(path: string, hash: string): void {
    const name = nameOf(path);
    this.#writtenAt.set(name, this.world.now);
    if (!this.#contents.has(name)) this.#contents.set(name, new Set());
    this.#contents.get(name)?.add(hash);
  }

  /** What people do with their files. */
  #change(): void {
    const names = this.#disks.list(root);
    if (names.length === 0) this.#write(this.#newName());
    const path = `${root}/${this.world.pick(names)}`;
    const inode = this.#disks.get(path);
    if (inode === undefined) return;
    const next = this.#newName();
    switch (this.world.below(7)) {
      case 0:
        this.#disks.rename(path, next);
        this.#remember(next, sha256(inode.content));
        this.world.tell(`${path} is renamed to ${next}`);
        break;
      case 1:
        this.#copy(inode.content, next);
        this.world.tell(`${path} is copied to ${next}`);
        break;
      case 2:
        this.#write(path);
        break;
      case 3:
        this.#write(next);
        break;
      case 4:
        if (names.length > 2) this.#disks.unlink(path);
        break;
      case 5:
        inode.ctimeNs = this.#disks.timeNs(path);
        // What is written in the same unit of a disk's times as this cannot be told: docs/guarantees.md, Limits.
        this.#writtenAt.set(nameOf(path), this.world.now);
        break;
      default:
    }
    this.#disks.settle();
  }

  /** From now on, a stream is piped into each run until it is stored. */
  #pipe(): void {
    this.#names += 1;
    const name = `stream-${this.#names}.png`;
    const content = this.world.pick([...small, ...large]);
    this.#streams.set(name, content);
    this.#contents.set(name, new Set([content.sha256]));
    this.world.tell(`${name} is piped, with content ${content.sha256.slice(0, 6)}`);
  }

  #copy(content: Buffer, to: string): void {
    const inode = this.#disks.create(to);
    inode.replace(Buffer.from(content));
    inode.sync();
    this.#remember(to, sha256(content));
  }

  #process(namespace = 'pid:[1]', faults: Faults = {}): Process {
    this.#pids += 1;
    return new Process(this.#machine, {pid: this.#pids, namespace, faults});
  }

  async #run(): Promise<void> {
    const {world} = this;
    const faults = this.#faults();
    const process = this.#process('pid:[1]', faults);
    if (world.oneIn(3)) this.#pipe();
    const fault = world.pick(['none', 'none', 'kill', 'power', 'sleep', 'edit', 'signal', 'second'] as const);
    const isFailing = faults.room !== undefined || faults.failing !== undefined;
    // A power cut may leave half a lock of a run that was taking over another, which is waited for in vain.
    const hasReason = isFailing || fault !== 'none' || this.#boots > 0 || this.#hasSlept;
    this.#hasSlept ||= fault === 'sleep';
    this.#isCutShort ||= isFailing || fault === 'kill' || fault === 'power' || fault === 'sleep';
    const stop = new Stop<MediaError>();
    const ends: (() => void)[] = [];
    const cut = new Promise<void>(resolve => ends.push(resolve));
    let isOver = false;
    const after = (ms: number, action: () => void) =>
      world.after(ms, () => process.isKilled || isOver || action());
    const others: Promise<unknown>[] = [];
    const moment = this.#moment();
    const killed = (sentence: string) => {
      world.tell(sentence);
      process.kill();
      for (const end of ends) end();
    };
    if (fault === 'kill') after(moment, () => killed(`process ${process.pid} is killed`));
    if (fault === 'power')
      after(moment, () => {
        killed('the power is cut');
        this.#disks.crash();
        this.#judgeMoved();
        this.#boots += 1;
        this.#machine.bootId = `boot ${this.#boots}`;
      });
    if (fault === 'sleep')
      after(moment, () => {
        world.tell(`process ${process.pid} sleeps`);
        process.stop();
        const ms = world.pick([1000, 100_000, 13 * hour]);
        world.after(ms, () => process.continue());
        // While it sleeps, another container may find its journal.
        if (world.oneIn(2)) others.push(this.#upload(this.#process('pid:[2]')));
      });
    if (fault === 'edit') this.#edit(after);
    if (fault === 'signal')
      after(moment, () => {
        world.tell(`process ${process.pid} is interrupted`);
        stop.abort(new MediaError('interrupted', 'Ctrl-C'));
      });
    if (fault === 'second')
      after(
        moment,
        () => void others.push(this.#upload(this.#process(world.pick(['pid:[1]', 'pid:[2]'])), {})),
      );
    world.tell(`process ${process.pid} begins`);
    const running = this.#upload(process, {stop, mayEnd: hasReason, isPiped: true});
    await world.until(Promise.race([running, cut]));
    if (fault === 'sleep') process.continue();
    for (const other of others) await world.until(other);
    isOver = true;
    process.exit();
  }

  /** When trouble comes: while files are uploaded, or as soon as they are moved or deleted. */
  #moment(): number {
    const {world} = this;
    if (this.#disposal === 'keep' || world.oneIn(2)) return world.random() * world.pick([20, 200, 1000]);
    const due = Math.ceil((world.now + disposalMs) / 1000 + world.pick([0, 0, 0, 1])) * 1000;
    return due - world.now + world.random() * world.pick([10, 30]);
  }

  /** Somebody works on the files while they are uploaded; a program writes a large one again and again. */
  #edit(after: (ms: number, action: () => void) => void): void {
    const {world} = this;
    for (let edits = world.below(5); edits > 0; edits -= 1) after(world.random() * 200, () => this.#change());
    // What is written twice within the unit of a disk's times cannot be told there: docs/guarantees.md, Limits.
    if (this.#disks.traitsOf(root) === fat) return;
    const path = this.#newName();
    // Where files are disposed of, `media watch` has seen each unchanged for longer than a unit of its times before it opens it.
    const unit = (this.#disposal === 'keep' ? 1 : 5) + world.random() * 20;
    const rewrite = (turn: number) => {
      const content = large[turn % 2] as Content;
      const inode = this.#disks.get(path) ?? this.#disks.create(path);
      inode.replace(content.bytes);
      inode.sync();
      inode.mtimeNs = inode.ctimeNs = this.#disks.timeNs(path);
      this.#remember(path, content.sha256);
    };
    rewrite(0);
    world.tell(`${path} is written anew every ${unit.toFixed(1)} ms`);
    for (let turn = 1; turn < 40; turn += 1) after(turn * unit, () => rewrite(turn));
  }

  /** Troubles with the disk that a run may meet. */
  #faults(): Faults {
    const {world} = this;
    const shortOneIn = world.oneIn(3) ? 3 : undefined;
    const trouble = world.below(8);
    if (trouble === 0) {
      const fullMs = world.pick([undefined, 0, 1, 20, 200]);
      return {room: world.below(3000), fullMs, ...(shortOneIn && {shortOneIn})};
    }
    const code = world.pick(['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE']);
    if (trouble === 1) return {failing: {call: 1 + world.below(60), code}, ...(shortOneIn && {shortOneIn})};
    return {...(shortOneIn && {shortOneIn})};
  }

  /** One run over all files, whose outcomes are judged. */
  async #upload(
    process: Process,
    {stop = new Stop<MediaError>(), mayEnd = true, isPiped = false} = {},
  ): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let journal: Journal | undefined;
    const isLibrary = this.world.oneIn(4);
    if (isLibrary) this.world.tell(`process ${process.pid} calls the library`);
    const disposing = new Disposing(this.#disposal, {process, service: this.#service, stop});
    const disposed: Promise<void>[] = [];
    const start = this.world.now;
    try {
      if (!isLibrary) journal = await openJournal(journalPath, process.host, {scope});
      const names = this.#disks.list(root);
      const streams = [...(isPiped ? this.#streams : [])].map(([name, {bytes}]) =>
        streamOf(name, bytes, process, () => this.broken.add(`${name} comes once, and is opened again`)),
      );
      const results = isLibrary
        ? this.#callLibrary([...names, ...streams], process, stop)
        : this.#runProgram([...this.#sources(names, process, disposing), ...streams], {
            process,
            stop,
            journal,
          });
      for await (const outcome of results) {
        if (process.isKilled) break;
        if (outcome.status === 'left out') continue;
        outcomes.push(outcome);
        const writtenAt = this.#writtenAt.get(nameOf(outcome.file)) ?? start;
        const isClear = !this.#isCoarse || start - writtenAt >= settleMs;
        this.#judge(outcome, isClear);
        const isStored = outcome.status === 'uploaded' || outcome.status === 'skipped';
        if (isStored && this.#streams.delete(outcome.file)) continue;
        if (isStored && isClear && !isLibrary) disposed.push(this.#dispose(outcome, disposing, mayEnd));
        if (!mayEnd && 'error' in outcome && hasTrait(outcome.error.code, 'unrecorded'))
          this.broken.add(`a run ends without a cause: ${outcome.error.message}`);
        if (isLibrary && mayEnd && this.world.oneIn(12)) break;
      }
    } catch (error) {
      this.#expected(error, mayEnd);
    }
    await journal?.close().catch((error: unknown) => this.#expected(error, mayEnd));
    await Promise.all(disposed);
    // A renewal of the lock may still be on its way.
    await process.step(() => {}, 1000);
    if (!process.isKilled && process.openPaths.length > 0)
      this.broken.add(`process ${process.pid} leaves ${process.openPaths.join(', ')} open`);
    return outcomes;
  }

  #sources(names: string[], {host}: Process, disposing: Disposing): Source[] {
    const disk = new Disk(host.files, host.clock);
    return names.map(name => {
      const path = `${root}/${name}`;
      return disposing.watched({...sourceAt(disk, path, path, false), relativePath: name});
    });
  }

  #runProgram(
    sources: Source[],
    {process, ...options}: {process: Process; stop: Stop<MediaError>; journal: Journal | undefined},
  ): AsyncIterable<Outcome | LeftOut> {
    const {host} = process;
    return uploadBatch(sources, {
      ...{uploader: this.#service.uploader(process), host: 'a.example', ...options},
      ...{clock: host.clock, random: host.random, uuid: host.uuid, typeRule: 'extension'},
      contentType: async () => ({contentType: 'image/png'}),
      ...{several: true, concurrency: this.#concurrency, retries: 2},
      ...{timeoutMs: 10_000, retryMaxWaitMs: 60_000},
      onUnknown: 'declared',
      ...{dryRun: false, observer: noObserver},
    });
  }

  /** A program of somebody else uploads the same files by the library. */
  #callLibrary(
    inputs: (string | Source)[],
    process: Process,
    stop: Stop<MediaError>,
  ): AsyncIterable<Outcome> {
    return libraryRun(inputs, {
      ...{process, stop, uploader: this.#service.uploader(process)},
      ...{cwd: root, journal: journalPath, concurrency: this.#concurrency},
      onUnknown: this.#service.traits.honoursKeys ? 'retry' : 'hold',
    });
  }

  /** A run may end because its journal is in use, or because the disk fails. */
  #expected(error: unknown, mayEnd: boolean): void {
    if (!(error instanceof MediaError)) throw error;
    this.world.tell(`a run ends: ${error.message}`);
    if (!mayEnd) this.broken.add(`a run ends without a cause: ${error.message}`);
    if (!/^(journal_(failed|in_use|unusable)|interrupted|file_missing)$/.test(error.code)) throw error;
  }

  async #dispose(outcome: Outcome, disposing: Disposing, mayEnd: boolean): Promise<void> {
    const {file: name} = outcome;
    const why = await disposing.dispose(outcome, nameOf(name)).catch((error: unknown) => {
      // The disk fails, or the file is written while it is copied, or another process has moved it.
      if (!mayEnd) this.broken.add(`${name} stays without a cause: ${String(error)}`);
      return `where it was: ${String(error)}`;
    });
    if (why !== 'stays') this.world.tell(`${name} is ${why}`);
  }

  /** Before a process removes a file: what goes is stored. */
  #judgeDisposal(path: string): void {
    const content = this.#disks.get(path)?.content;
    if (content === undefined || !path.startsWith(`${root}/`)) return;
    const hash = sha256(content);
    if (this.#service.with(hash).length === 0) this.broken.add(`${path} is disposed of and not stored`);
    if (typeof this.#disposal === 'object') this.#moved.set(nameOf(path), hash);
  }

  /** Every file that was moved exists whole, under one of its names. */
  #judgeMoved(): void {
    for (const [name, hash] of this.#moved) {
      const [stem] = name.split('.');
      const isItsName = (path: string) => new RegExp(`/${stem}(-\\d+)?\\.png$`).test(path);
      const paths = [root, ...targets].flatMap(directory =>
        this.#disks.list(directory).map(file => `${directory}/${file}`),
      );
      if (!paths.some(path => isItsName(path) && sha256(this.#disks.get(path)?.content ?? '') === hash))
        this.broken.add(`${name} was moved, and is lost`);
    }
  }

  /** `isClear`: whether the disk shows every change of the file since it was opened. */
  #judge(outcome: Outcome, isClear: boolean): void {
    this.outcomes += 1;
    const why = 'error' in outcome ? ` (${outcome.error.code}: ${outcome.error.message})` : '';
    this.world.tell(`${outcome.file} is ${outcome.status}${why}`);
    this.#judgeStored();
    if (!isClear || (outcome.status !== 'uploaded' && outcome.status !== 'skipped')) return;
    const {id} = JSON.parse(outcome.json) as {id: string};
    const contents = this.#contents.get(nameOf(outcome.file)) ?? new Set();
    if (!this.#service.stored.some(one => one.id === id && contents.has(one.sha256)))
      this.broken.add(`${outcome.file} is ${outcome.status} as ${id}, which is not its content`);
  }

  #judgeStored(): void {
    const seen = new Set<string>();
    for (const {sha256: content} of this.#service.stored) {
      if (seen.has(content)) this.broken.add(`${content.slice(0, 6)} is stored twice`);
      seen.add(content);
    }
  }

  /** What a person does who can look into the service. */
  async #settle(): Promise<void> {
    const process = this.#process();
    this.#disks.settle();
    // What is still on its way arrives before anybody looks.
    await this.world.until(process.step(nobody, 1000));
    const settling = this.#settleAll(process).catch((error: unknown) => this.#repair(process, error));
    await this.world.until(settling);
    process.exit();
  }

  /** What a person does with a journal that is refused, as the message says; only its own writes can have damaged it. */
  async #repair(process: Process, error: unknown): Promise<void> {
    const journal = this.#disks.get(journalPath);
    if (!(error instanceof MediaError) || journal === undefined || !this.#isCutShort) throw error;
    const text = journal.content.toString();
    const [, number] = /line (\d+) is not/.exec(error.message) ?? [];
    if (number === undefined) throw error;
    // What slept between two parts of a line that it wrote.
    this.world.tell(`line ${number} of the journal is deleted`);
    journal.replace(
      Buffer.from(
        text
          .split('\n')
          .toSpliced(Number(number) - 1, 1)
          .join('\n'),
      ),
    );
    this.#disks.settle();
    await this.#settleAll(process);
  }

  async #settleAll(process: Process): Promise<void> {
    const journal = await openJournal(journalPath, process.host, {paths: true, scope});
    for await (const {entry} of journal.reader.entriesIn('unknown')) {
      const line = await journal.reader.lineOf(entry);
      if (!this.#isCutShort && !this.#service.releasedKeys.has(line.key))
        this.broken.add(`${line.key} is unknown, and its last bytes have never left`);
      const [found] = 'sha256' in line ? this.#service.with(line.sha256) : [];
      await journal.settle(entry, found && {id: found.id});
    }
    await journal.close();
  }

  /** A last run without troubles: every file is stored once, and known. */
  async #finish(): Promise<void> {
    this.#service.isFair = true;
    this.world.tell('a last run begins, and nothing disturbs it');
    const process = this.#process();
    const contents = new Map(
      this.#disks.list(root).map(name => [name, sha256(this.#disks.get(`${root}/${name}`)?.content ?? '')]),
    );
    for (const [name, {sha256: content}] of this.#streams) contents.set(name, content);
    const start = this.world.now;
    const outcomes = await this.world.until(this.#upload(process, {mayEnd: false, isPiped: true}));
    process.exit();
    if (this.world.now - start > 5 * 60_000)
      this.broken.add(`the last run takes ${Math.round((this.world.now - start) / 1000)} s`);
    if (outcomes.length !== contents.size)
      this.broken.add(`lost: ${outcomes.length} outcomes of ${contents.size} files`);
    for (const {file: name, status} of outcomes)
      if (status !== 'uploaded' && status !== 'skipped') this.broken.add(`${name} is ${status} in the end`);
    for (const [name, content] of contents) {
      if (this.#service.with(content).length !== 1)
        this.broken.add(`${name} is stored ${this.#service.with(content).length} times in the end`);
    }
    this.#judgeStored();
    this.#judgeMoved();
  }
}

interface Content {
  bytes: Buffer;
  sha256: string;
}

function contentOf(text: string): Content {
  return {bytes: Buffer.from(text), sha256: sha256(text)};
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
