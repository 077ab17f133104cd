import {readdirSync, readFileSync} from 'node:fs';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {availableParallelism, tmpdir} from 'node:os';
import {extname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {probeMedia} from '../../../src/media/pixels/media.ts';
import {factsWithoutFfprobe} from '../../media/pixels/reader-alone.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {concurrently} from '../../support/experiment/tally.ts';
import {AccuracyTable} from './accuracy-table.ts';
import {exiftool, ffprobe, identify, isAgreed, missingJudges} from './judges.ts';

interface Sample {
  name: string;
  contentType: string;
  bytes: Buffer;
}

const ours = fileURLToPath(new URL('../../fixtures/', import.meta.url));
/** Real files, beside the repository on the machines that have them. */
const real = fileURLToPath(new URL('../../../../shared/media/', import.meta.url));
const limits = {short: 0, long: 1_500};

experiment(
  'width, height, duration and type of media and of damaged copies: right or absent',
  async ({scale, random}) => {
    const samples = scale === 'long' ? [...(await fixtures()), ...(await realFiles())] : await fixtures();
    const trials = [...samples, ...damaged(samples, limits[scale], random)];
    const directory = await mkdtemp(join(tmpdir(), 'media-accuracy-'));
    const tables = {'with ffprobe': new AccuracyTable(), 'without ffprobe': new AccuracyTable()};
    const broken: string[] = [];
    try {
      const paths = trials.map(({name}, index) => join(directory, `${index}${extname(name)}`));
      await Promise.all(paths.map((path, index) => writeFile(path, trials[index]?.bytes ?? '')));
      const said = await exiftool(paths);
      await concurrently(
        trials.entries(),
        2 * availableParallelism(),
        async ([index, {name, contentType}]) => {
          const path = paths[index] ?? '';
          const judges = [said.get(path) ?? {}, await ffprobe(path)];
          // ImageMagick leaves videos to ffmpeg, and is asked where the others do not agree.
          if (contentType.startsWith('image/') && !isAgreed(judges)) judges.push(await identify(path));
          const facts = {
            'with ffprobe': await probeMedia({path, contentType}),
            'without ffprobe': await factsWithoutFfprobe({path, contentType}),
          };
          for (const [how, table] of Object.entries(tables)) {
            const wrong = table.compare(contentType, facts[how as keyof typeof facts], judges);
            if (how === 'with ffprobe')
              broken.push(...wrong.map(line => `copy ${index} of ${name}, ${how}: ${line}`));
          }
        },
      );
    } finally {
      await rm(directory, {recursive: true, force: true});
    }
    const notes = Object.entries(tables).map(([how, table]) => `${how}: ${table.summary()}`);
    if (scale === 'long')
      process.stdout.write(`\n${tables['with ffprobe'].markdown()}\n${notes.join('\n')}\n`);
    const {tried, absent} = tables['with ffprobe'].total();
    // A damaged video may contradict itself without a trace: one in 1,000, where nothing can be compared.
    const alone = tables['without ffprobe'].total();
    if (alone.wrong > 0.001 * alone.tried)
      broken.push(`without ffprobe: ${alone.wrong} of ${alone.tried} wrong`);
    if (absent > 0.15 * tried) broken.push(`${absent} of ${tried} absent`);
    return {tried, held: tried - broken.length, broken, note: notes.join('; ')};
  },
  missingJudges,
);

/** The project's own files. */
async function fixtures(): Promise<Sample[]> {
  const {lookup} = await import('mime-types');
  const types: Record<string, string> = {m2ts: 'video/mp2t', mkv: 'video/x-matroska'};
  return readdirSync(ours)
    .filter(name => /^(?:photo|clip|fragmented|animated|favicon|truncated)\./.test(name))
    .map(name => {
      const extension = extname(name).slice(1);
      return {
        name,
        contentType: types[extension] ?? (lookup(name) || ''),
        bytes: readFileSync(join(ours, name)),
      };
    });
}

async function realFiles(): Promise<Sample[]> {
  const lines = await readFile(join(real, 'index.jsonl'), 'utf8').then(
    text => text.trim().split('\n'),
    () => [],
  );
  return lines.map(line => {
    const {file, trueType} = JSON.parse(line) as {file: string; trueType: string};
    const contentType = /^(?:image|video)\//.test(trueType) ? trueType : 'image/svg+xml';
    return {name: file, contentType, bytes: readFileSync(join(real, file))};
  });
}

/** Copies that are cut off, or in which bytes are changed, mostly near the start, where formats say what they are. */
function damaged(samples: readonly Sample[], count: number, random: () => number): Sample[] {
  const below = (limit: number) => Math.floor(random() * limit);
  return Array.from({length: count}, (_, index) => {
    const {name, contentType, bytes: whole} = samples[index % samples.length] as Sample;
    const kind = below(4);
    const bytes = Buffer.from(kind === 0 ? whole.subarray(0, 1 + below(whole.length)) : whole);
    const reach = Math.min(bytes.length, kind === 1 ? 512 : kind === 2 ? 4_096 : bytes.length);
    for (let changes = kind === 0 ? 0 : 1 + below(4); changes > 0; changes -= 1) {
      const at = below(reach);
      if (random() < 0.5) bytes[at] = below(256);
      else bytes.fill(below(256), at, Math.min(at + 4, bytes.length));
    }
    return {name, contentType, bytes};
  });
}
