import {copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {parseRecord} from '../../../src/engine/service/record.ts';
import type {Uploader, UploadResponse} from '../../../src/engine/service/uploader.ts';
import {Disk} from '../../../src/engine/sources/open/disk.ts';
import {filesIn} from '../../../src/engine/sources/open/file-source.ts';
import {uploadBatch} from '../../../src/engine/transfer/batch.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {type Host, systemClock} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {noObserver} from '../../engine/service/support.ts';
import {
  afterSilence,
  changedHandle,
  hostIn,
  type JournalHandle,
  openJournal,
  sha256,
  wrappedJournals,
} from '../../support/journal.ts';

/** What a service does with an upload: `silent` stores it and says nothing, `lose` does neither. */
type Fate = 'store' | 'cut' | 'refuse' | 'lose' | 'silent';

interface Stored {
  id: string;
  sha256: string;
}

/** A service that keeps what it is sent, each time it is sent it. */
class KeptService {
  readonly name: string;
  readonly stored: Stored[] = [];

  constructor(name: string) {
    this.name = name;
  }

  with(content: string): Stored[] {
    return this.stored.filter(one => one.sha256 === content);
  }
}

/** One process: it can be killed or stopped between any two steps, and its disk can be full. */
class Process {
  readonly pid: number;
  readonly #random: () => number;
  readonly #stopAt: {moment: number; how: 'kill' | 'pause'} | undefined;
  #moments = 0;
  #handle: JournalHandle | undefined;
  #room: number;
  #isKilled = false;
  #onStop = () => {};
  #resume = () => {};
  /** Resolves when it is killed or stopped. */
  readonly stopped = new Promise<void>(resolve => {
    this.#onStop = resolve;
  });
  readonly #resumed = new Promise<void>(resolve => {
    this.#resume = resolve;
  });

  constructor(pid: number, random: () => number, fault: Process['fault']) {
    this.pid = pid;
    this.#random = random;
    this.fault = fault;
    const isStopped = fault === 'kill' || fault === 'pause';
    this.#stopAt = isStopped ? {moment: Math.floor(random() * 24), how: fault} : undefined;
    this.#room = fault === 'full disk' ? Math.floor(random() * 4000) : Number.POSITIVE_INFINITY;
  }

  readonly fault: 'none' | 'kill' | 'pause' | 'full disk';

  /** A step: what is killed never comes to the next one. */
  async step(): Promise<void> {
    if (this.#isKilled) await new Promise(() => {});
    this.#moments += 1;
    if (this.#moments - 1 !== this.#stopAt?.moment) return;
    this.#onStop();
    if (this.#stopAt.how === 'pause') return this.#resumed;
    this.#isKilled = true;
    await this.#handle?.close();
    await new Promise(() => {});
  }

  /** Whether nothing that it still does can be seen any more. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  resume(): void {
    this.#resume();
  }

  readonly wrap = (handle: JournalHandle): JournalHandle => {
    this.#handle = handle;
    return changedHandle(handle, {
      write: async (buffer, offset, length) => {
        await this.step();
        if (this.#room <= 0) throw Object.assign(new Error('full'), {code: 'ENOSPC'});
        const result = await handle.write(buffer, offset, Math.min(length, this.#room));
        this.#room -= result.bytesWritten;
        return result;
      },
      datasync: () => this.step(),
    });
  };

  fate(): Fate {
    const draw = this.#random();
    if (draw < 0.7) return 'store';
    return (['cut', 'refuse', 'lose', 'silent'] as const)[Math.floor(this.#random() * 4)] ?? 'store';
  }
}

const reset = () => Object.assign(new Error('reset'), {code: 'ECONNRESET'});

function uploaderOf(service: KeptService, process: Process, isFair: boolean): Uploader {
  return {
    upload: async ({body}): Promise<UploadResponse> => {
      const fate = isFair ? 'store' : process.fate();
      await process.step();
      if (fate === 'cut') throw reset();
      const parts: Uint8Array[] = [];
      const wire = {connectMs: 1, unsentBytes: 0};
      const chunks = body.content instanceof Uint8Array ? [body.content] : body.content(wire);
      for await (const chunk of chunks) {
        parts.push(Buffer.from(chunk));
        if (Buffer.concat(parts).length === body.length) body.release?.(wire);
      }
      await process.step();
      if (fate === 'refuse') return {kind: 'refused', status: 415, message: 'no'};
      if (fate === 'lose') throw reset();
      const id = `${service.name}_${service.stored.length}`;
      service.stored.push({id, sha256: sha256(Buffer.concat(parts))});
      await process.step();
      if (fate === 'silent') throw reset();
      const received = parseRecord(JSON.stringify({id, type: 'IMAGE'}));
      if ('problem' in received) throw new Error(received.problem);
      return {kind: 'stored', received};
    },
  };
}

const day = 86_400_000;

/** One directory, two services, one journal, and what people and machines do to them; tells what went wrong. */
export class JournalStory {
  readonly broken: string[] = [];
  readonly #directory: string;
  readonly #random: (below: number) => number;
  readonly #chance: () => number;
  readonly #service = new KeptService('a');
  readonly #other = new KeptService('b');
  readonly #alive = new Set<number>();
  #pids = 1000;
  #names = 0;

  constructor(directory: string, random: () => number) {
    this.#directory = directory;
    this.#chance = random;
    this.#random = below => Math.floor(random() * below);
  }

  get #root(): string {
    return join(this.#directory, 'files');
  }

  async tell(): Promise<void> {
    await mkdir(this.#root);
    for (let count = 0; count < 4; count += 1) await this.#write(`${this.#names++}.png`);
    const runs = 3 + this.#random(4);
    for (let run = 0; run < runs; run += 1) {
      await this.#run();
      await this.#change();
      if (this.#random(4) === 0) await this.#tryOther();
      if (this.#random(3) === 0) await this.#settle();
    }
    await this.#settle();
    await this.#finish();
  }

  /** Some content of some size, of which there are few: files share them. */
  async #write(name: string): Promise<void> {
    const path = join(this.#root, name);
    const before = await stat(path, {bigint: true}).catch(() => undefined);
    const number = this.#random(6);
    const content = number < 4 ? `content ${number}` : `large ${number}`.repeat(9000);
    // With a time that edits keep, and until another has moved: a clock that lies by a day makes a young file look old.
    for (;;) {
      await writeFile(path, content);
      await utimes(path, 1_000_000_000, 1_000_000_000);
      if ((await stat(path, {bigint: true})).ctimeNs !== before?.ctimeNs) return;
    }
  }

  async #change(): Promise<void> {
    const names = await readdir(this.#root);
    const name = names[this.#random(names.length)] ?? '';
    const next = `${this.#names++}.png`;
    const [from, to] = [join(this.#root, name), join(this.#root, next)];
    switch (this.#random(6)) {
      case 0:
        return rename(from, to);
      case 1:
        return copyFile(from, to);
      case 2:
        return this.#write(name);
      case 3:
        return this.#write(next);
      case 4:
        return names.length > 2 ? rm(from) : undefined;
      default:
    }
  }

  #host(process: Process, namespace: string): Host {
    const offset = [0, 10_000, day, -day][this.#random(4)] ?? 0;
    const clock = {...systemClock, now: () => Date.now() + offset, every: () => () => {}};
    return hostIn(this.#directory, {
      clock,
      files: wrappedJournals(process.wrap),
      processId: () => process.pid,
      processStart: () => 'once',
      isProcessAlive: pid => this.#alive.has(pid),
      pidNamespace: () => namespace,
    });
  }

  #process(fault: Process['fault']): Process {
    const process = new Process(this.#pids++, this.#chance, fault);
    this.#alive.add(process.pid);
    return process;
  }

  async #run(): Promise<void> {
    const fault =
      (['none', 'none', 'kill', 'kill', 'pause', 'full disk'] as const)[this.#random(6)] ?? 'none';
    const process = this.#process(fault);
    const running = this.#upload(process, 'pid:[1]');
    // Whatever comes of it is judged where it is awaited.
    running.catch(() => {});
    const isStopped = await Promise.race([running.then(() => false), process.stopped.then(() => true)]);
    if (!isStopped) return;
    if (fault === 'kill') {
      this.#alive.delete(process.pid);
      return;
    }
    // Of another container, which has waited for 90 s in vain.
    const second = this.#process('none');
    await this.#upload(second, 'pid:[2]', {isSilent: true});
    this.#alive.delete(second.pid);
    process.resume();
    await running;
    this.#alive.delete(process.pid);
  }

  /** One run over all files; its outcomes are held against the service. */
  async #upload(process: Process, namespace: string, options: {isSilent?: boolean; isFair?: boolean} = {}) {
    const {isSilent = false, isFair = false} = options;
    const here = this.#host(process, namespace);
    const host = isSilent ? afterSilence(here) : here;
    const outcomes: Outcome[] = [];
    try {
      const scope = {service: 'https://a.example'};
      const journal = await openJournal('j', host, {scope});
      const fileIn = filesIn(this.#directory, new Disk(host.files));
      const sources = (await readdir(this.#root)).map(name => ({
        ...fileIn(join('files', name)),
        relativePath: name,
      }));
      const contents = await this.#contents();
      for await (const outcome of uploadBatch(sources, {
        ...{uploader: uploaderOf(this.#service, process, isFair), host: 'a.example', journal},
        ...{clock: host.clock, random: () => 0, uuid: host.uuid, typeRule: 'extension'},
        contentType: async () => ({contentType: 'image/png'}),
        ...{several: true, concurrency: 3, retries: 1, timeoutMs: 10_000, retryMaxWaitMs: 300_000},
        ...{
          onUnknown: 'hold',
          dryRun: false,
          stop: new Stop<MediaError>(),
        },
        observer: noObserver,
      })) {
        // What was killed prints nothing, and the files are not those that it began with.
        if (process.isKilled) break;
        if (outcome.status === 'left out') continue;
        outcomes.push(outcome);
        this.#judge(outcome, contents.get(outcome.file.slice('files/'.length)) ?? '');
      }
      await journal.close();
    } catch (error) {
      if (!(error instanceof MediaError) || !/^journal_(failed|in_use)$/.test(error.code)) throw error;
    }
    return outcomes;
  }

  async #contents(): Promise<Map<string, string>> {
    const names = await readdir(this.#root);
    return new Map(
      await Promise.all(
        names.map(async name => [name, sha256(await readFile(join(this.#root, name)))] as const),
      ),
    );
  }

  #judge(outcome: Outcome, content: string): void {
    for (const {sha256: each} of this.#service.stored)
      if (this.#service.with(each).length > 1) this.broken.push('stored twice');
    if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return;
    const id = (JSON.parse(outcome.json) as {id: string}).id;
    if (!this.#service.with(content).some(one => one.id === id))
      this.broken.push(`${outcome.status} as ${id}, which is not its content`);
  }

  /** The same journal, another service: refused, and nothing arrives there. */
  async #tryOther(): Promise<void> {
    // Where not even a header fitted, it belongs to nobody yet.
    const text = await readFile(join(this.#directory, 'j'), 'utf8').catch(() => '');
    if (!text.includes('\n{')) return;
    const process = this.#process('none');
    const host = this.#host(process, 'pid:[1]');
    const code = await openJournal('j', host, {scope: {service: 'https://b.example'}}).then(
      async journal => {
        await journal.close();
        return 'accepted';
      },
      error => (error instanceof MediaError ? error.code : String(error)),
    );
    this.#alive.delete(process.pid);
    if (code !== 'journal_of_other_service') this.broken.push(`another service: ${code}`);
    if (this.#other.stored.length > 0) this.broken.push('another service has something');
  }

  /** What a person does who can look into the service. */
  async #settle(): Promise<void> {
    const process = this.#process('none');
    const journal = await openJournal('j', afterSilence(this.#host(process, 'pid:[1]')), {
      paths: true,
      scope: {service: 'https://a.example'},
    });
    for await (const {entry} of journal.reader.entriesIn('unknown')) {
      const line = await journal.reader.lineOf(entry);
      const [found] = 'sha256' in line ? this.#service.with(line.sha256) : [];
      await journal.settle(entry, found && {id: found.id});
    }
    await journal.close();
    this.#alive.delete(process.pid);
  }

  /** A last run without faults: every file is stored once, and known. */
  async #finish(): Promise<void> {
    const process = this.#process('none');
    const outcomes = await this.#upload(process, 'pid:[1]', {isFair: true});
    const contents = await this.#contents();
    if (outcomes.length !== contents.size)
      this.broken.push(`${outcomes.length} outcomes of ${contents.size} files`);
    for (const {file: name, status} of outcomes)
      if (status !== 'uploaded' && status !== 'skipped') this.broken.push(`${name} is ${status} in the end`);
    for (const content of contents.values())
      if (this.#service.with(content).length !== 1)
        this.broken.push(`stored ${this.#service.with(content).length} times in the end`);
  }
}
