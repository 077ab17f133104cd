import {readdir, readFile} from 'node:fs/promises';
import {execa} from 'execa';
import sharp from 'sharp';
import {noExiftool} from '../../media/location/exiftool.ts';
import {handmade} from '../../media/location/handmade.ts';
import {judge, type Pair} from '../../media/location/judge.ts';
import {type Made, makeFiles} from '../../media/location/makers.ts';
import {stripped} from '../../media/location/tagged.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {whatIsMissing} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';

const corpus = new URL('../../../../shared/media/', import.meta.url);
const missing = noExiftool ?? whatIsMissing(['ffmpeg']);

/** Real media, where they are. */
async function realMedia(): Promise<Made[]> {
  const names = await readdir(corpus).catch(() => []);
  return Promise.all(names.map(async name => ({name, bytes: await readFile(new URL(name, corpus))})));
}

/** What is sent of files that are not refused. */
async function allStripped(files: readonly Made[]): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const {name, bytes} of files) {
    const after = await stripped(bytes);
    if (typeof after !== 'string') pairs.push({name, before: bytes, after});
  }
  return pairs;
}

experiment(
  'geotags: all formats of 12 makers, and real media: no location for exiftool, the same tags and pixels',
  async () => {
    const made = await makeFiles(await temporaryDirectory(), 10);
    const pairs = await allStripped([...made, ...(await realMedia())]);
    const refused = made.filter(({name}) => !pairs.some(pair => pair.name === name));
    const {located, broken} = await judge(pairs);
    const changed = pairs.filter(({before, after}) => !before.equals(after));
    const different: string[] = [];
    for (const pair of changed)
      if (!(await hasSamePixels(pair))) different.push(`${pair.name}: other pixels`);
    const all = [...broken, ...different, ...refused.map(({name}) => `${name}: refused`)];
    return {
      tried: pairs.length,
      held: pairs.length - new Set(all.map(line => line.split(':')[0])).size,
      broken: all,
      note: `${located} with a location, ${changed.length} changed`,
    };
  },
  missing,
);

async function hasSamePixels({name, before, after}: Pair): Promise<boolean> {
  const isPicture = /jpe?g$|png$|webp$|tiff?$|avif$/.test(name);
  const decoded = isPicture
    ? (bytes: Buffer) => sharp(bytes).raw().toBuffer()
    : async (bytes: Buffer) =>
        (
          await execa('ffmpeg', ['-v', 'error', '-i', '-', '-f', 'md5', '-'], {
            input: bytes,
            encoding: 'buffer',
            reject: false,
          })
        ).stdout;
  return Buffer.from(await decoded(before)).equals(Buffer.from(await decoded(after)));
}

/** Changes, copies or swaps bytes in up to four places, most of them where the metadata is; cuts or lengthens now and then. */
function mutated(whole: Buffer, random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const bytes = Buffer.from(whole);
  const place = () =>
    random() < 0.7
      ? below(Math.min(bytes.length, 2_500))
      : bytes.length - 1 - below(Math.min(bytes.length, 3_000));
  for (let changes = below(4); changes >= 0; changes -= 1) {
    const at = place();
    const kind = below(6);
    if (kind === 0) bytes[at] = below(256);
    else if (kind === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
    else if (kind === 2) bytes.fill(random() < 0.5 ? 0 : 0xff, at, Math.min(at + 1 + below(4), bytes.length));
    else if (kind === 3) bytes.copy(bytes, at, place(), at + below(16));
    else if (kind === 4) bytes[at] = (bytes[at] ?? 0) + 1;
    else bytes.writeUInt16BE(below(300), Math.min(at, bytes.length - 2));
  }
  if (random() < 0.05) return bytes.subarray(0, below(bytes.length) + 1);
  return random() < 0.05 ? Buffer.concat([bytes, Buffer.alloc(below(12), below(256))]) : bytes;
}

experiment(
  'geotags: mutated files: exiftool finds no location in what is sent, and the same tags',
  async ({scale, random}) => {
    const seeds = [...(await makeFiles(await temporaryDirectory(), 2)), ...(await handmade())];
    const tried = scale === 'long' ? 20_000 : 200;
    const broken: string[] = [];
    let refused = 0;
    let located = 0;
    for (let done = 0; done < tried; done += 500) {
      const files = Array.from({length: Math.min(500, tried - done)}, (_, index) => {
        const {name, bytes} = seeds[(done + index) % seeds.length] as Made;
        return {name: `${done + index}-${name}`, bytes: mutated(bytes, random)};
      });
      const pairs = await allStripped(files);
      refused += files.length - pairs.length;
      const verdict = await judge(pairs);
      located += verdict.located;
      broken.push(...verdict.broken);
    }
    const held = tried - new Set(broken.map(line => line.split(':')[0])).size;
    return {tried, held, broken, note: `${refused} refused, ${located} with a location`};
  },
  missing,
);

experiment(
  'geotags: mutated files in process: none crashes or hangs, and what is sent has the same length',
  async ({scale, random}) => {
    const seeds = [...(await makeFiles(await temporaryDirectory(), 3)), ...(await handmade())].filter(
      ({bytes}) => bytes.length < 40_000,
    );
    const tried = scale === 'long' ? 1_000_000 : 5_000;
    const broken: string[] = [];
    let refused = 0;
    let slowest = 0;
    for (let index = 0; index < tried; index += 1) {
      const {name, bytes} = seeds[index % seeds.length] as Made;
      const file = mutated(bytes, random);
      const start = performance.now();
      const after = await stripped(file).catch(error => Promise.resolve(new Error(`${name}: ${error}`)));
      slowest = Math.max(slowest, performance.now() - start);
      if (typeof after === 'string') refused += 1;
      else if (after instanceof Error) broken.push(`${index}: ${after.message}`);
      else if (after.length !== file.length) broken.push(`${index}: ${name}: another length`);
    }
    return {
      tried,
      held: tried - broken.length,
      broken,
      note: `${refused} refused, the slowest ${Math.round(slowest)} ms`,
    };
  },
  noExiftool,
);
