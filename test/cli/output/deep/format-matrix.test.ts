import {createHash} from 'node:crypto';
import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {formatNames} from '../../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {optionOf} from '../../../support/output-formats.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';
import {expectedOfOne, plainFormats} from '../plain-formats.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');

describe('one file in each format', () => {
  it.each(['json', 'ndjson'])('--format %s: as the option of this name', async format => {
    const {sandbox} = await connectedSandbox();
    const runs = [];
    for (const option of [[`--${format}`], ['--format', format]])
      runs.push(await sandbox.run(['upload', photo, 'gone.png', '--quiet', ...option]));
    const [flag, value] = runs.map(({stdout, ...others}) => ({
      ...others,
      fields: stdout
        .trimEnd()
        .split('\n')
        .map(line => Object.keys(JSON.parse(line))),
    }));
    expect(value).toEqual(flag);
    const usage = await sandbox.run(['upload', clip, `--format=${format}`, '--retries', 'many']);
    expect(JSON.parse(usage.stderr)).toMatchObject({error: {code: 'usage'}});
  });

  it('ndjson: the SHA-256 that a journal made the run compute', async () => {
    const {sandbox} = await connectedSandbox();
    await copyFile(clip, join(sandbox.directory, 'copy.mp4'));
    const sha256 = createHash('sha256')
      .update(await readFile(clip))
      .digest('hex');
    const lines = [];
    for (const words of [
      [clip, '--once'],
      ['copy.mp4', '--once'],
      [clip, '--no-once'],
    ])
      lines.push(JSON.parse((await sandbox.run(['upload', '--ndjson', ...words])).stdout));
    expect(lines.map(line => [line.status, line.sha256])).toEqual([
      ['uploaded', sha256],
      ['skipped', sha256],
      ['uploaded', undefined],
    ]);
  });
});

describe('several files in each format, one failure among them', () => {
  const inputs = [photo, 'gone.png', clip];

  it.each(plainFormats)('%s: the successes, in the order of the inputs', async format => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...inputs, ...optionOf(format)]);
    const records = new Map((await service.records()).map(({contentType, record}) => [contentType, record]));
    const lines = [
      expectedOfOne[format](photo, records.get('image/png') ?? {}),
      expectedOfOne[format](clip, records.get('video/mp4') ?? {}),
    ];
    expect(stdout).toBe(lines.join(''));
    expect(exitCode).toBe(3);
    const failure =
      format === 'json'
        ? '{"error":{"file":"gone.png","code":"file_missing","message":"gone.png does not exist."}}'
        : 'media: gone.png does not exist.';
    expect(stderr).toBe(`${failure}\n2 uploaded, 0 skipped, 1 failed, 0 unknown\n`);
  });
});

describe('standard error beside each format', () => {
  const named = fixture('png-named.jpg');
  const warning = /^warning: .*png-named\.jpg: .*--types content/;

  it.each(formatNames)('a PNG named .jpg, %s: sent, with a warning', async format => {
    const {sandbox, service} = await connectedSandbox();
    const {stderr, exitCode} = await sandbox.run(['upload', named, ...optionOf(format)]);
    expect(stderr).toMatch(warning);
    expect(stderr.split('\n')).toHaveLength(2);
    expect((await service.records())[0]?.contentType).toBe('image/jpeg');
    expect(exitCode).toBe(0);
  });

  it.each([
    ['table', 4, 0],
    ['url', 4, 0],
    ['json', 3, 2],
    ['ndjson', 4, 0],
  ] as const)(
    'a bad key and 300 files, %s: %i lines, %i of them JSON; with --quiet one less',
    async (format, count, jsonCount) => {
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(401, '{"code":1,"message":"no"}');
      });
      const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
      const names = Array.from({length: 300}, (_, index) => `p${index}.png`);
      for (const name of names) await copyFile(photo, join(box.directory, name));
      const upload = ['upload', ...names, '-c', '1', '--no-progress', ...optionOf(format)];
      const {stdout, stderr, exitCode} = await box.run(upload);
      const lines = stderr.trimEnd().split('\n');
      expect([lines.length, exitCode]).toEqual([count, 4]);
      expect(lines.at(-1)).toBe('0 uploaded, 0 skipped, 300 failed, 0 unknown');
      const errors = lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line).error);
      expect(errors.map(({code}) => code)).toEqual(['unauthorized', 'not_tried'].slice(0, jsonCount));
      if (jsonCount > 0) expect(errors).toMatchObject([{file: 'p0.png'}, {count: 299}]);
      expect(stdout.split('\n').length - 1).toBe({table: 5, url: 0, json: 0, ndjson: 300}[format]);
      const quiet = await box.run([...upload, '--quiet']);
      expect(quiet.stderr.trimEnd().split('\n')).toHaveLength(count - 1);
    },
  );
});
