import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {type Sample, svg, templates, texts} from '../../../support/texts.ts';

async function filled(samples: readonly Sample[]) {
  const {service, sandbox} = await connectedSandbox();
  await mkdir(join(sandbox.directory, 'work'));
  for (const {name, content} of samples) await writeFile(join(sandbox.directory, 'work', name), content);
  const upload = async (...parameters: string[]) => {
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...parameters, '--ndjson']);
    const lines = stdout.split('\n').slice(0, -1);
    const results = lines
      .map(line => JSON.parse(line))
      .map(({file, ...rest}) => [file.slice(5), rest] as const);
    return {results: new Map(results), stderr, exitCode};
  };
  return {service, upload, named: samples.map(({name}) => `work/${name}`)};
}

const pictures: Sample[] = [
  {name: 'drawing', content: svg},
  {name: 'drawing.bak', content: svg},
  {name: 'drawing.xml', content: svg},
  {name: 'drawing.svg', content: svg},
  {name: 'plain', content: 'P3\n2 1\n255\n255 0 0\n0 255 0\n'},
  {name: 'line', content: 'P2 2 1 255 0 255'},
  {name: 'printable', content: 'P6\n1 1\n255\nRGB'},
];

describe.each(['extension', 'content', 'strict'])('--types %s', rule => {
  test('a directory of logs, sources, templates and prose: all left out', async () => {
    const samples = [...texts, ...templates];
    const {service, upload} = await filled(samples);
    const {results, stderr, exitCode} = await upload('-r', 'work', '--types', rule);
    expect([...results]).toEqual([]);
    expect(stderr).toContain('nothing_matched');
    expect(exitCode).toBe(2);
    expect(await service.records()).toEqual([]);
  });

  test('texts that are named: each refused, in whatever place the letter G is', async () => {
    const {service, upload, named} = await filled(texts);
    const {results, exitCode} = await upload(...named, '--types', rule);
    expect([...results.values()].map(({error}) => error?.code)).toEqual(texts.map(() => 'not_media'));
    expect(exitCode).toBe(1);
    expect(await service.records()).toEqual([]);
  });
});

test('templates that are named: their bytes decide', async () => {
  const {upload, named} = await filled(templates);
  const {results, exitCode} = await upload(...named);
  expect([...results.values()].map(({contentType}) => contentType)).toEqual(
    templates.map(() => 'image/svg+xml'),
  );
  expect(exitCode).toBe(0);
});

test('pictures that are texts, in a directory, under names that say nothing else: all uploaded', async () => {
  const {upload} = await filled(pictures);
  const {results, exitCode} = await upload('-r', 'work');
  expect([...results.keys()].sort()).toEqual(pictures.map(({name}) => name).sort());
  expect(exitCode).toBe(0);
});
