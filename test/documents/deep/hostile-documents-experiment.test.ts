import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {connectedSandbox} from '../../support/embedded.ts';
import {experiment, onlyLong} from '../../support/experiment/experiment.ts';
import {fixture} from '../../support/media.ts';

/** What every object in JavaScript has, by name. */
const inherited = Object.getOwnPropertyNames(Object.prototype);

/** Places in documents where an author chooses a name, around one reference. */
const places: Readonly<Record<string, (name: string, src: string) => string>> = {
  'tag.html': (name, src) => `<${name}><img src="${src}"></${name}>`,
  'open-tag.md': (name, src) => `<${name}>\n\n![a](${src})\n`,
  'attribute.html': (name, src) => `<img ${name} ${name}=x.png src="${src}">`,
  'value.html': (name, src) =>
    `<link rel="${name}" href="x"><meta name="${name}" content="x"><img src="${src}">`,
  'entity.html': (name, src) => `<img alt="&${name};" src="${src}">`,
  'label.md': (name, src) => `![${name}][]\n![b][${name}]\n\n[${name}]: ${src}\n`,
  'footnote.md': (name, src) => `[^${name}] ![a](${src})\n\n[^${name}]: text\n`,
  'front-matter.md': (name, src) => `---\n${name}: ${src}\n---\n\n${name}\n`,
  'scheme.md': (name, src) => `[a](${name}:x) ![a](${src})\n`,
  'rule.css': (name, src) => `@${name} {a: ${name}(x)}\n.${name} {background: url(${src})}\n`,
};

experiment('documents: names of JavaScript wherever an author chooses a name, each rewritten', async () => {
  const {sandbox: box, service} = await connectedSandbox();
  const directory = join(box.directory, 'docs');
  await mkdir(directory);
  await copyFile(fixture('photo.png'), join(directory, 'photo.png'));
  const documents = inherited.flatMap(name =>
    Object.entries(places).map(
      ([place, document]) => [`${name}.${place}`, document.bind(undefined, name)] as const,
    ),
  );
  for (const [path, document] of documents) await writeFile(join(directory, path), document('photo.png'));
  // Their extensions are no documents' extensions.
  for (const name of inherited) await writeFile(join(directory, `x.${name}`), '![a](photo.png)');
  const run = await box.run([
    'rewrite',
    '--write',
    'docs',
    ...inherited.flatMap(name => ['--front-matter', name]),
  ]);
  const [stored] = await service.records();
  const url = String(stored?.record.fileUrl);
  const broken = run.exitCode === 0 ? [] : [`exit ${run.exitCode}: ${run.stderr}`];
  for (const [path, document] of documents)
    if ((await readFile(join(directory, path), 'utf8')) !== document(url)) broken.push(path);
  for (const name of inherited)
    if ((await readFile(join(directory, `x.${name}`), 'utf8')) !== '![a](photo.png)') broken.push(name);
  const tried = documents.length + inherited.length;
  return {tried, held: tried - broken.length, broken};
});

/** Markdown that keeps a parser busy for seconds or minutes. */
const laborious: Readonly<Record<string, string>> = {
  'images in images': `${'!['.repeat(1_400)}a${'](a.png)'.repeat(1_400)}`,
  'strong emphasis that never ends': '**x'.repeat(30_000),
  'footnotes without definitions': '[^a]'.repeat(30_000),
  'strikethrough that never ends': '~a~~b'.repeat(30_000),
  'a list 3,000 levels deep': `${'- '.repeat(3_000)}a`,
  'thousands of lists': '- a\n- b\n\ntext\n\n'.repeat(20_000),
  'more than 4 MiB': 'text\n\n'.repeat(800_000),
};

experiment(
  'documents: Markdown that keeps a parser busy, each given up by name or read, the others checked',
  async () => {
    const {sandbox: box} = await connectedSandbox();
    const directory = join(box.directory, 'docs');
    await mkdir(directory);
    await copyFile(fixture('photo.png'), join(directory, 'photo.png'));
    const names = Object.keys(laborious);
    for (const [index, text] of Object.values(laborious).entries())
      await writeFile(join(directory, `${index}.md`), text);
    await writeFile(join(directory, 'z.md'), '![a](photo.png)\n');
    const run = await box.start(['rewrite', '--check', '--ndjson', '--allow-missing', 'docs'], {
      timeout: 13 * 60_000,
    });
    const lines = run.stdout
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line));
    const broken = run.exitCode === 1 ? [] : [`exit ${run.exitCode}: ${run.stderr}`];
    const failed = lines.filter(({status}) => status === 'failed');
    for (const {error, file} of failed)
      if (error.code !== 'document_too_complex') broken.push(`${file}: ${error.code}`);
    if (!lines.some(({file, status}) => file === 'docs/z.md' && status === 'local')) broken.push('z.md');
    const note = `${failed.length} of ${names.length} given up`;
    return {tried: names.length + 1, held: names.length + 1 - broken.length, broken, note};
  },
  onlyLong(),
);
