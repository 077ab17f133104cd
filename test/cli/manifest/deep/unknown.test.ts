import {writeFile} from 'node:fs/promises';
import {expect, it} from 'vitest';
import {systemHost} from '../../../../src/host.ts';
import {inputOf, upload as leave, openJournal, sha256} from '../../../support/journal.ts';
import {checkout, writePng} from '../checkout.ts';

/** A checkout in which an upload of the icon is unknown; `change` gives the icon other content. */
async function unknownIcon() {
  const one = await checkout({faults: {list: ['upload:after=store,reset']}});
  const icon = (...parameters: string[]) => one.upload('assets/icon.png', '--retries', '0', ...parameters);
  // The service honours keys, but a manifest has none for the next run.
  expect(await icon()).toMatchObject({exitCode: 5, stderr: expect.stringContaining('--on-unknown retry')});
  const change = (text: string) => writePng(one.path('assets/icon.png'), text);
  const resolve = (what: string, id: string) =>
    one.sandbox.run(['journal', 'resolve', 'media.json', what, '--uploaded', id]);
  return {...one, icon, change, resolve};
}

it('settled after the file has got other content: the newer record stays', async () => {
  const {service, icon, change, resolve, manifest, stored} = await unknownIcon();
  service.faults?.replace([]);
  await change('newer');
  expect((await icon()).exitCode).toBe(0);
  const {files} = await manifest();
  expect((await resolve('assets/icon.png', 'med_old')).exitCode).toBe(0);
  expect(await manifest()).toMatchObject({files});
  expect(await manifest()).not.toHaveProperty('unknown');
  expect((await icon()).exitCode).toBe(0);
  expect(await stored()).toBe(2);
});

it('two contents of one file, settled one by one: one entry, of what the file has, with the fields of others', async () => {
  const {service, icon, change, resolve, manifest, text, path} = await unknownIcon();
  service.faults?.replace([]);
  await change('first');
  expect((await icon()).exitCode).toBe(0);
  await writeFile(path('media.json'), (await text()).replace('{"url"', '{"alt": "A cat", "url"'));
  service.faults?.replace(['upload:after=store,reset']);
  await change('second');
  expect((await icon('--on-unknown', 'hold')).exitCode).toBe(5);
  const {unknown = {}} = await manifest();
  const keys = Object.keys(unknown);
  expect(keys).toEqual(['assets/icon.png', expect.stringMatching(/^assets\/icon\.png \([0-9a-f]{8}\)$/)]);
  const [, current = ''] = keys;
  expect((await resolve(unknown[current]?.sha256 ?? '', 'med_2')).exitCode).toBe(0);
  expect((await resolve('assets/icon.png', 'med_1')).exitCode).toBe(0);
  const {files} = await manifest();
  expect(files).toEqual({
    'assets/icon.png': expect.objectContaining({record: {id: 'med_2'}, alt: 'A cat'}),
  });
  expect(files['assets/icon.png']?.sha256).toBe(unknown[current]?.sha256);
});

it('sent again in another way: what may be stored in the first way stays unknown', async () => {
  const {service, icon, manifest, stored} = await unknownIcon();
  service.faults?.replace([]);
  expect((await icon('--content-type', 'image/webp', '--on-unknown', 'retry')).exitCode).toBe(0);
  expect((await manifest()).unknown).toHaveProperty(['assets/icon.png']);
  expect((await icon()).exitCode).toBe(5);
  expect(await stored()).toBe(2);
  expect((await icon('--on-unknown', 'retry')).exitCode).toBe(0);
  expect(await manifest()).not.toHaveProperty('unknown');
});

it('what a run that was cut off has left: named by its hash, since the manifest will have no key', async () => {
  const {service, path, upload} = await checkout();
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  await writeFile(path('assets/a.svg'), drawing);
  const scope = {service: service.url};
  const journal = await openJournal(path('media.json.journal'), systemHost(), {scope});
  await leave(journal, inputOf('assets/a.svg', drawing), 'commit').finally(() => journal.close());
  expect(await upload('assets/a.svg', '--on-unknown', 'hold')).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining(`media journal resolve media.json ${sha256(drawing)} `),
  });
});

it('nothing to send, and a key that cannot be read: no key is needed', async () => {
  const {sandbox, service, key, path, text, upload} = await checkout();
  delete sandbox.env['MEDIA_API_KEY'];
  delete sandbox.env['MEDIA_BASE_URL'];
  await sandbox.run(['config', 'set', 'base-url', service.url]);
  await sandbox.run(['config', 'set', 'key-command', `cat '${path('key')}'`]);
  await writeFile(path('key'), key);
  expect((await upload('-r', 'assets')).exitCode).toBe(0);
  // A service with an ID is asked for it first.
  await writeFile(path('media.json'), (await text()).replace(/ {2}"serviceId".*\n/, ''));
  await writeFile(path('key'), '');
  expect((await upload('-r', 'assets')).exitCode).toBe(0);
  await writePng(path('assets/icon.png'), 'other');
  expect(await upload('-r', 'assets')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('key-command'),
  });
});
