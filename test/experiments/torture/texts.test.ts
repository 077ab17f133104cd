import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {copyFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {filesOf, MediaClient, uploadAll} from '../../../src/index.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {templates, texts} from '../../support/texts.ts';

const ours = fileURLToPath(new URL('../../fixtures/', import.meta.url));
/** Real files, beside the repository on the machines that have them. */
const real = fileURLToPath(new URL('../../../../shared/media/', import.meta.url));

/** The names of the files in a directory that a dry run takes. */
async function taken(paths: string[], recursive: boolean): Promise<Set<string>> {
  const client = new MediaClient({baseUrl: 'http://127.0.0.1:9', apiKey: 'key-of-the-test'});
  const names = new Set<string>();
  const options = {client, dryRun: true, concurrency: 8};
  for await (const {file: name, status} of uploadAll(filesOf(paths, {recursive}), options))
    if (status === 'checked') names.add(name);
  await client.close();
  return names;
}

/** Lines of any length, with letters, punctuation and words that formats begin with, in any column. */
function anyText(random: () => number): string {
  const below = (limit: number) => Math.floor(random() * limit);
  const words = [
    'G',
    'GG',
    'GET /',
    'GIF89a',
    'RIFF',
    'ftyp',
    'moov',
    'P6 2 2 ',
    '<svg',
    '/*',
    '#?RADIANCE',
    'é',
    'Straße',
    '0',
  ];
  const length = 16 + below(200);
  const columns = Array.from(
    {length: 1 + below(4)},
    () => [below(length), words[below(words.length)] ?? ''] as const,
  );
  const filling = String.fromCharCode(33 + below(94)).repeat(length);
  const line = columns.reduce(
    (text, [at, word]) => text.slice(0, at) + word + text.slice(at + word.length),
    filling,
  );
  return `${line.slice(0, length - 1)}\n`.repeat(4 + below(1000));
}

experiment(
  'texts of all kinds: none taken for a picture or a video, named or in a directory',
  async ({scale, random}) => {
    const directory = await temporaryDirectory();
    const endings = ['log', 'ts', 'txt', 'm2ts', 'md', 'html', 'vue', 'csv'];
    const samples = Array.from({length: scale === 'long' ? 10_000 : 300}, (_, index) => ({
      name: `any-${index}.${endings[index % endings.length]}`,
      content: anyText(random),
    }));
    const all = [...texts, ...templates, ...samples];
    for (const {name, content} of all) await writeFile(join(directory, name), content);
    const walked = await taken([directory], true);
    const named = await taken(
      [...texts, ...samples]
        .filter(({content}) => !content.startsWith('<svg'))
        .map(({name}) => join(directory, name)),
      false,
    );
    const broken = [...walked, ...named];
    return {tried: all.length, held: all.length - new Set(broken).size, broken};
  },
);

experiment('pictures and videos under names of texts, or none: all taken from a directory', async () => {
  const directory = await temporaryDirectory();
  const folders = existsSync(real) ? [ours, real] : [ours];
  // The first bytes of a TGA are no mark.
  const others =
    /^(?:audio|song|subtitles|document|lfs|page|zip|unrecognised|favicon)|\.(?:sh|md|jsonl|json|tga)$|^\./;
  const audio = existsSync(real)
    ? readFileSync(join(real, 'index.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as {file: string; trueType: string})
        .filter(({trueType}) => !/^(?:image|video)/.test(trueType))
        .map(({file}) => file)
    : [];
  let tried = 0;
  const expected: string[] = [];
  for (const folder of folders)
    for (const name of readdirSync(folder).filter(each => !others.test(each) && !audio.includes(each))) {
      const bytes = readFileSync(join(folder, name));
      const isSvg = bytes.includes('<svg');
      for (const ending of isSvg ? ['', '.bak', '.xml'] : ['', '.bak', '.txt', '.html', '.svelte', '.log']) {
        const path = join(directory, `${tried}-${name.replaceAll('.', '-')}${ending}`);
        await copyFile(join(folder, name), path);
        expected.push(path);
        tried += 1;
      }
    }
  const found = await taken([directory], true);
  const broken = expected.filter(path => !found.has(path));
  return {tried, held: tried - broken.length, broken};
});
