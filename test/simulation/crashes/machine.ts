import type {Disposal} from '../../../src/cli/commands/watch/disposal/disposal.ts';
import {Disk} from '../../../src/engine/sources/open/disk.ts';
import {sourceAt} from '../../../src/engine/sources/open/file-source.ts';
import {type TransferObserver, uploadBatch} from '../../../src/engine/transfer/batch.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import type {MediaError} from '../../../src/errors.ts';
import type {FileSystem} from '../../../src/lib/files/file-system.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {sourceOf} from '../../../src/library/sources.ts';
import {type Journal, openJournal} from '../../support/journal.ts';
import {seededRandom} from '../../support/seeded.ts';
import {Disks, type DiskTraits, ext4} from '../disk.ts';
import {Disposing} from '../disposing.ts';
import {Process} from '../process.ts';
import {SimulatedService, sha256} from '../service.ts';
import {World} from '../world.ts';
import type {Image} from './recorder.ts';

export const root = '/a/files';
/** What comes through standard input in runs that keep their files: it has no file, and is hashed each time. */
export const streamed = {name: 'pasted.png', content: 'pasted'};
const journalPath = '/a/journal';
const scope = {service: 'https://a.example'};

const nobody = () => {};
const noObserver: TransferObserver = {
  ...{started: nobody, progress: nobody, retrying: nobody, unavailable: nobody},
  ...{finished: nobody, warning: nobody},
};

/** A run of `media upload --journal`, or of `media watch` with a disposal. */
export interface Run {
  disposal: Disposal;
  /** Called with the path of each file that is told as stored, and its id. */
  onTold?: (path: string, id: string | undefined) => void;
  /** Wraps the file system of the process. */
  files?: (files: FileSystem) => FileSystem;
}

/** A simulated machine with the files of an image, and the service that it uploads to. */
export class Machine {
  readonly world: World;
  readonly disks: Disks;
  readonly service: SimulatedService;
  /** How often it has been started; what ran before is gone. */
  readonly #boot: number;

  constructor(image: Image, disk: DiskTraits, boot: number) {
    this.world = new World(seededRandom(boot));
    // Each start comes an hour after the one before.
    this.world.now += boot * 3_600_000;
    this.#boot = boot;
    this.disks = new Disks(this.world, {'/a': disk, '/b': ext4});
    this.service = new SimulatedService(this.world, {honoursKeys: false, troubleOneIn: 1});
    this.service.isFair = true;
    for (const path of [...image.directories].sort())
      if (!this.disks.isDirectory(path)) this.disks.mkdir(path);
    for (const [file, content] of image.contents) this.#create(file, content, image);
    this.disks.settle();
  }

  /** The numbers of files on a device, and their times, are those that they had when the story began. */
  #create(file: number, content: Buffer, {names}: Image): void {
    const [path = '/a/none', ...others] = [...names].filter(([, one]) => one === file).map(([name]) => name);
    let inode = this.disks.create(path);
    while (inode.ino < file) inode = this.disks.create(path);
    inode.replace(content);
    inode.mtimeNs = inode.ctimeNs = 1_600_000_000_000_000_000n;
    for (const other of others) this.disks.link(path, other);
    if (!names.has(path)) this.disks.unlink(path);
  }

  get image(): Image {
    const paths = ['/a', root, '/a/done', '/b', '/b/done'];
    const directories = new Set(['/', ...paths.filter(path => this.disks.isDirectory(path))]);
    const names = new Map<string, number>();
    const contents = new Map<number, Buffer>();
    const files = paths
      .flatMap(directory => this.#filesOf(directory))
      .map(path => ({path, inode: this.disks.get(path)}));
    for (const {path, inode} of files.sort(
      (one, other) => Number(one.inode?.ino) - Number(other.inode?.ino),
    )) {
      names.set(path, Number(inode?.ino));
      contents.set(Number(inode?.ino), Buffer.from(inode?.content ?? ''));
    }
    return {directories, names, contents};
  }

  #filesOf(directory: string): string[] {
    const names = this.disks.list(directory).filter(name => !name.includes('/'));
    return names.map(name => `${directory}/${name}`);
  }

  /** The files to be uploaded. */
  get sources(): string[] {
    return this.#filesOf(root);
  }

  contentsBelow(...directories: string[]): Set<string> {
    const paths = directories.flatMap(directory => this.#filesOf(directory));
    return new Set(paths.map(path => sha256(this.disks.get(path)?.content ?? '')));
  }

  write(path: string, content: string): void {
    const inode = this.disks.get(path) ?? this.disks.create(path);
    inode.replace(Buffer.from(content));
    inode.sync();
    inode.mtimeNs = inode.ctimeNs = 1_600_000_000_000_000_000n;
  }

  /** The last run was killed while it wrote its last line. */
  cutJournal(): void {
    const journal = this.disks.get(journalPath);
    journal?.replace(Buffer.from(journal.content.subarray(0, -20)));
  }

  /** Uploads all files to the end. Rejects with why it could not. */
  upload(run: Run): Promise<Outcome[]> {
    const process = this.#process();
    if (run.files !== undefined) Object.assign(process.host, {files: run.files(process.host.files)});
    const running = this.#uploading(process, run).finally(() => process.exit());
    return this.world.until(running);
  }

  async #uploading(process: Process, {disposal, onTold = () => {}}: Run): Promise<Outcome[]> {
    const {host} = process;
    const stop = new Stop<MediaError>();
    const disposing = new Disposing(disposal, {process, service: this.service, stop});
    const journal = await openJournal(journalPath, host, {scope});
    const disk = new Disk(host.files, host.clock);
    const files = this.sources.map(path =>
      disposing.watched({...sourceAt(disk, path, path, false), relativePath: path.slice(root.length + 1)}),
    );
    const stream = sourceOf(streamed.name, Buffer.from(streamed.content));
    const sources = disposal === 'keep' ? [...files, stream] : files;
    const outcomes: Outcome[] = [];
    const disposed: Promise<string>[] = [];
    for await (const outcome of uploadBatch(sources, {
      ...{uploader: this.service.uploader(process), host: 'a.example', journal},
      ...{clock: host.clock, random: host.random, uuid: host.uuid, typeRule: 'extension'},
      contentType: async () => ({contentType: 'image/png'}),
      ...{several: true, concurrency: 2, retries: 2, timeoutMs: 10_000},
      ...{
        retryMaxWaitMs: 60_000,
        onUnknown: 'hold',
        dryRun: false,
        stop,
        observer: noObserver,
      },
    })) {
      if (outcome.status === 'left out') continue;
      outcomes.push(outcome);
      if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') continue;
      onTold(outcome.file, idOf(outcome));
      disposed.push(disposing.dispose(outcome, outcome.file.slice(root.length + 1)));
    }
    await Promise.all(disposed);
    await journal.close();
    return outcomes;
  }

  /** What a person does with unknown files who can look into the service. */
  settle(): Promise<void> {
    const process = this.#process();
    return this.world.until(this.#settleAll(process).finally(() => process.exit()));
  }

  async #settleAll(process: Process): Promise<void> {
    const journal: Journal = await openJournal(journalPath, process.host, {paths: true, scope});
    for await (const {entry} of journal.reader.entriesIn('unknown')) {
      const line = await journal.reader.lineOf(entry);
      const [found] = 'sha256' in line ? this.service.with(line.sha256) : [];
      await journal.settle(entry, found && {id: found.id});
    }
    await journal.close();
  }

  #process(): Process {
    const machine = {
      world: this.world,
      disks: this.disks,
      alive: new Set<string>(),
      bootId: `boot ${this.#boot}`,
    };
    return new Process(machine, {pid: 100 + this.#boot, namespace: 'pid:[1]'});
  }
}

/** The id under which a file is stored. */
export function idOf(outcome: Outcome): string | undefined {
  return 'record' in outcome ? (outcome.record.id ?? undefined) : undefined;
}
