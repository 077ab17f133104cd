import type {Disposal} from '../../../src/cli/commands/watch/disposal/disposal.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {type DiskTraits, ext4, fat, nfs} from '../disk.ts';
import {sha256} from '../service.ts';
import {idOf, Machine, root, streamed} from './machine.ts';
import {type Image, Recorder} from './recorder.ts';
import {type CrashState, crashStates} from './states.ts';
import type {Story} from './story.ts';

const targets = ['/a/done', '/b/done'];

const contents: Record<string, string> = {
  '1.png': 'content 1',
  // Of one size: the second waits for the hash of the first.
  '2.png': 'content 2',
  '3.png': 'content 2',
  // Sent in two chunks.
  '4.png': 'large '.repeat(14_000),
};

function contentOf(name: string): string {
  return name === streamed.name ? streamed.content : (contents[name.slice(root.length + 1)] ?? '');
}

/** What happened, as the recorder keeps it. */
interface Event {
  /** The content whose last bytes have left, so that it may be stored. */
  released?: string;
  stored?: string;
  /** A path that was told as stored, under an id. */
  told?: [path: string, id: string];
}

interface Options {
  disk?: DiskTraits;
  disposal?: Disposal;
  /** Whether an earlier run has sent one of the files, and was killed. */
  before?: boolean;
  /** Which state of a first power cut the run begins from, between the first (0) and the last (1). */
  again?: number;
}

/** A run with a journal, and what becomes of its files afterwards. */
export function uploads(
  name: string,
  {disk = ext4, disposal = 'keep', before = false, again}: Options,
): Story {
  let earlier: string[] = [];
  return {
    name,
    async record() {
      const machine = await prepared({disk, before});
      earlier = machine.service.stored.map(one => JSON.stringify({stored: one.sha256}));
      const recorded = await record(machine, {disk, disposal});
      if (again === undefined) return recorded;
      const states = [...crashStates(recorded.start, recorded.changes, {limit: 16, cuts: 'few'})];
      const state = states[Math.floor(again * (states.length - 1))] as CrashState;
      earlier = [...earlier, ...state.events];
      return record(restarted(state, storedIn(earlier), {disk, boot: 2}), {disk, disposal});
    },
    check: state => check({...state, events: [...earlier, ...state.events]}, {disk, disposal}),
  };
}

function restarted(
  image: Image,
  stored: readonly string[],
  {disk, boot}: {disk: DiskTraits; boot: number},
): Machine {
  const machine = new Machine(image, disk, boot);
  for (const [number, content] of stored.entries())
    machine.service.stored.push({id: `med_${number}`, sha256: content, key: ''});
  return machine;
}

function storedIn(events: readonly string[]): string[] {
  return events.flatMap(event => (JSON.parse(event) as Event).stored ?? []);
}

export const uploadStories: readonly Story[] = [
  uploads('`media upload` with `--journal`, a new journal', {}),
  uploads('`media upload` with `--journal`, on a network share', {disk: nfs, before: true}),
  uploads('`media upload` with `--journal`, begun again after another one', {
    disk: nfs,
    before: true,
    again: 0.6,
  }),
  uploads('`media watch` with `--move-to`, on the same disk', {disposal: {moveTo: `${targets[0]}`}}),
  uploads('`media watch` with `--move-to`, to another disk', {disposal: {moveTo: `${targets[1]}`}}),
  uploads('`media watch` with `--move-to`, on a stick (FAT)', {
    disk: fat,
    disposal: {moveTo: `${targets[0]}`},
  }),
  uploads('`media watch` with `--delete`', {disposal: 'delete', before: true}),
];

/** A machine with the files, and perhaps with the journal of an earlier run that was killed. */
async function prepared({disk, before}: {disk: DiskTraits; before: boolean}): Promise<Machine> {
  const empty: Image = {directories: new Set(['/', '/a', root, '/b']), names: new Map(), contents: new Map()};
  const machine = new Machine(empty, disk, 1);
  const names = Object.entries(contents);
  for (const [name, content] of before ? names.slice(0, 1) : names) machine.write(`${root}/${name}`, content);
  if (before) {
    await machine.upload({disposal: 'keep'});
    machine.cutJournal();
  }
  for (const [name, content] of names) machine.write(`${root}/${name}`, content);
  machine.disks.settle();
  return machine;
}

async function record(machine: Machine, {disk, disposal}: {disk: DiskTraits; disposal: Disposal}) {
  const start = machine.image;
  let recorder: Recorder | undefined;
  const note = (event: Event) => recorder?.event(JSON.stringify(event));
  machine.service.onReleased = released => note({released});
  machine.service.onStored = content => note({stored: content});
  await machine.upload({
    disposal,
    files: files => {
      recorder = new Recorder(files, start, disk === ext4);
      return recorder.files;
    },
    onTold: (path, id) => note({told: [path, `${id}`]}),
  });
  return {start, changes: recorder?.changes ?? []};
}

interface Setting {
  disk: DiskTraits;
  disposal: Disposal;
}

/** What is broken of what is promised, if the next runs begin with this state. */
async function check(state: CrashState, setting: Setting): Promise<string[]> {
  const events = state.events.map(event => JSON.parse(event) as Event);
  const stored = storedIn(state.events);
  const onTheWay = events.flatMap(event => event.released ?? []).filter(one => !stored.includes(one));
  const broken: string[] = [];
  // What had left when the power was cut has arrived, or has not.
  for (const arrived of onTheWay.length === 0 ? [stored] : [stored, [...stored, ...onTheWay]])
    broken.push(...(await new Aftermath(state, events, arrived, setting).look()));
  return broken;
}

class Aftermath {
  readonly #machine: Machine;
  readonly #setting: Setting;
  readonly #told: Map<string, string>;
  readonly #mayBeUnknown: Set<string>;
  readonly #broken: string[] = [];

  constructor(state: CrashState, events: readonly Event[], stored: readonly string[], setting: Setting) {
    this.#machine = restarted(state, stored, {disk: setting.disk, boot: 3});
    this.#setting = setting;
    this.#told = new Map(events.flatMap(({told}) => (told === undefined ? [] : [told])));
    this.#mayBeUnknown = new Set(this.#committed(state));
  }

  /** The contents that the journal says are about to be sent. */
  *#committed({contents: files}: CrashState): Generator<string> {
    for (const content of files.values())
      for (const [, hash] of content.toString().matchAll(/"commit".*?"sha256":"([0-9a-f]+)"/g))
        yield `${hash}`;
  }

  async look(): Promise<string[]> {
    const {disposal} = this.#setting;
    this.#nothingIsLost('after the power cut');
    for (const [path, id] of this.#told) this.#isStored(path, id);
    const outcomes = await this.#run('the next run', disposal);
    for (const outcome of outcomes) this.#judge(outcome);
    this.#nothingIsLost('after the next run');
    await this.#machine.settle().catch(error => this.#broken.push(`nothing can be settled: ${error}`));
    await this.#finish();
    return this.#broken;
  }

  async #run(which: string, disposal: Disposal): Promise<Outcome[]> {
    try {
      return await this.#machine.upload({disposal});
    } catch (error) {
      this.#broken.push(`${which} ends: ${error instanceof MediaError ? `${error.code}: ` : ''}${error}`);
      return [];
    }
  }

  #judge(outcome: Outcome): void {
    const {file: name, status} = outcome;
    const id = this.#told.get(name);
    const hash = sha256(contentOf(name));
    if (id !== undefined && (status !== 'skipped' || idOf(outcome) !== id))
      this.#broken.push(`${name} was told as stored, and is ${status}`);
    const isFine = status === 'uploaded' || status === 'skipped';
    if (!isFine && !(status === 'unknown' && this.#mayBeUnknown.has(hash)))
      this.#broken.push(`${name} is ${status}${'error' in outcome ? `: ${outcome.error.message}` : ''}`);
  }

  #isStored(path: string, id: string): void {
    const hash = sha256(contentOf(path));
    if (!this.#machine.service.stored.some(one => one.id === id && one.sha256 === hash))
      this.#broken.push(`${path} was told as stored as ${id}, which it is not`);
  }

  /** Each content is in its place or where it was to go; if it was to be deleted, the service has it. */
  #nothingIsLost(when: string): void {
    const {disposal} = this.#setting;
    const there = this.#machine.contentsBelow(root, ...targets);
    for (const [name, content] of Object.entries(contents)) {
      const hash = sha256(content);
      const isStored = this.#machine.service.with(hash).length > 0;
      if (!there.has(hash) && !(disposal === 'delete' && isStored))
        this.#broken.push(`${name} is lost ${when}`);
      const isAtHome = this.#machine.contentsBelow(root).has(hash);
      if (!isAtHome && !isStored) this.#broken.push(`${name} is disposed of and not stored, ${when}`);
    }
    this.#storedOnce(when);
  }

  #storedOnce(when: string): void {
    for (const content of new Set([...Object.values(contents), streamed.content])) {
      const {length} = this.#machine.service.with(sha256(content));
      if (length > 1) this.#broken.push(`${content.slice(0, 9)} is stored ${length} times ${when}`);
    }
  }

  /** All files come back: each is known to be stored, and nothing is sent again. */
  async #finish(): Promise<void> {
    for (const [name, content] of Object.entries(contents)) this.#machine.write(`${root}/${name}`, content);
    const outcomes = await this.#run('the last run', 'keep');
    for (const {file: name, status} of outcomes)
      if (status !== 'uploaded' && status !== 'skipped') this.#broken.push(`${name} is ${status} in the end`);
    for (const content of [...Object.values(contents), streamed.content])
      if (this.#machine.service.with(sha256(content)).length === 0)
        this.#broken.push(`${content.slice(0, 9)} is not stored in the end`);
    this.#storedOnce('in the end');
  }
}
