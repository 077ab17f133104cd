import {copyFile, mkdir, readdir, readFile, rename, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';

interface Entry {
  url: string;
  sha256: string;
  size: number;
  contentType: string;
  record: {id: string};
  stdin?: true;
}

/** A checkout with two pictures in `assets`, and a service that counts what it stores. */
async function checkout() {
  const connected = await connectedSandbox();
  const {sandbox, service} = connected;
  const path = (name: string) => join(sandbox.directory, name);
  await mkdir(path('assets/img'), {recursive: true});
  await copyFile(fixture('photo.png'), path('assets/img/logo.png'));
  await writePng(path('assets/icon.png'), 'icon');
  const upload = (...parameters: string[]) =>
    sandbox.run(['upload', '--manifest', 'media.json', ...parameters]);
  const text = () => readFile(path('media.json'), 'utf8');
  const manifest = async () =>
    JSON.parse(await text()) as {
      service: string;
      serviceId?: string;
      files: Record<string, Entry>;
      unknown?: Record<string, Entry>;
    };
  const stored = async () => (await service.records()).length;
  /** What the run left beside the manifest. */
  const beside = async () =>
    (await readdir(sandbox.directory)).filter(
      name => name.startsWith('media.json') || name.startsWith('.media-'),
    );
  return {...connected, path, upload, text, manifest, stored, beside};
}

/** A picture whose bytes differ by a text, which changes nothing of what is seen. */
async function writePng(path: string, text: string): Promise<void> {
  await writeFile(path, Buffer.concat([await readFile(fixture('photo.png')), Buffer.from(text)]));
}

describe('media upload --manifest', () => {
  it('records what was uploaded; the next run sends nothing, needs no key, and leaves the bytes', async () => {
    const {sandbox, service, upload, text, manifest, stored, beside} = await checkout();
    const first = await upload('-r', 'assets', '--format', 'url');
    expect(first).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/media\.json: 2 added, 0 changed, 0 unchanged\n$/),
    });
    const {files, service: url, serviceId} = await manifest();
    expect({url, serviceId}).toEqual({url: service.url, serviceId: service.identity});
    expect(Object.keys(files)).toEqual(['assets/icon.png', 'assets/img/logo.png']);
    expect(files['assets/icon.png']).toMatchObject({
      url: first.stdout.split('\n')[0],
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      contentType: 'image/png',
      record: {id: expect.any(String)},
    });
    expect(await beside()).toEqual(['media.json']);
    const bytes = await text();
    const {stdout, exitCode, stderr} = await upload('-r', 'assets', '--format', 'url');
    expect({stdout, exitCode}).toEqual({stdout: first.stdout, exitCode: 0});
    expect(stderr).toContain('media.json: 0 added, 0 changed, 2 unchanged\n');
    expect(await text()).toBe(bytes);
    expect(await stored()).toBe(2);
    expect(await beside()).toEqual(['media.json']);
    await writeFile(join(sandbox.directory, 'media.json'), bytes.replace(/ {2}"serviceId".*\n/, ''));
    await service.close();
    delete sandbox.env['MEDIA_API_KEY'];
    expect(await upload('-r', 'assets', '--format', 'url')).toMatchObject({
      stdout: first.stdout,
      exitCode: 0,
    });
  });

  it('a file with another name: a new key without a request; other content: replaced, with the fields of others', async () => {
    const {path, upload, manifest, stored} = await checkout();
    await upload('-r', 'assets');
    const before = await manifest();
    const noted = JSON.stringify({
      ...before,
      files: {...before.files, 'assets/icon.png': {...before.files['assets/icon.png'], alt: 'An icon'}},
    });
    await writeFile(path('media.json'), noted);
    await rename(path('assets/img/logo.png'), path('assets/brand.png'));
    await copyFile(path('assets/brand.png'), path('assets/copy.png'));
    await writePng(path('assets/icon.png'), 'another icon');
    const {stderr, exitCode} = await upload('-r', 'assets');
    expect({exitCode, stderr}).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('media.json: 2 added, 1 changed, 1 unchanged\n'),
    });
    const {files} = await manifest();
    const logo = before.files['assets/img/logo.png'];
    expect(files).toMatchObject({
      'assets/img/logo.png': logo,
      'assets/brand.png': logo,
      'assets/copy.png': logo,
    });
    expect(files['assets/icon.png']).toMatchObject({alt: 'An icon'});
    expect(files['assets/icon.png']?.sha256).not.toBe(before.files['assets/icon.png']?.sha256);
    expect(await stored()).toBe(3);
  });

  it('keys are paths from the directory of the file that a link leads to, wherever the command runs', async () => {
    const {sandbox, path, manifest, stored} = await checkout();
    await mkdir(path('data'));
    await symlink('data/media.json', path('media.json'));
    const run = (cwd: string, ...parameters: string[]) =>
      sandbox.run(['upload', ...parameters], {cwd: path(cwd)});
    expect((await run('.', 'assets/icon.png', '--manifest', 'media.json')).exitCode).toBe(0);
    expect(
      (await run('assets', 'icon.png', 'img/../img/logo.png', '--manifest', '../media.json')).exitCode,
    ).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual(['../assets/icon.png', '../assets/img/logo.png']);
    expect(await stored()).toBe(2);
  });

  it('standard input is known by its name, which it needs', async () => {
    const {sandbox, upload, manifest, stored} = await checkout();
    const input = await readFile(fixture('photo.png'));
    const pipe = (...parameters: string[]) =>
      sandbox.run(['upload', '--manifest', 'media.json', '-', ...parameters], {stdin: 'pipe', input});
    expect(await pipe()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Name it with --name.'),
    });
    expect((await pipe('--name', 'cat.png')).exitCode).toBe(0);
    expect((await pipe('--name', 'cat.png')).exitCode).toBe(0);
    expect((await manifest()).files).toMatchObject({'cat.png': {stdin: true, contentType: 'image/png'}});
    expect((await upload('assets/img/logo.png')).exitCode).toBe(0);
    expect((await manifest()).files['assets/img/logo.png']).not.toHaveProperty('stdin');
    expect(await stored()).toBe(1);
  });
});
