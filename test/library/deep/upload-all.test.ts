import {createHash} from 'node:crypto';
import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {systemClock, systemHost} from '../../../src/host.ts';
import {MediaClient, sourceOf, type UploadResult, upload, uploadAll} from '../../../src/index.ts';
import {uploadOn} from '../../../src/library/upload-all.ts';
import {eventually} from '../../support/eventually.ts';
import {notRun} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {canListOpenFiles, openFiles} from '../../support/open-files.ts';
import {collect, settled} from '../../support/results.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {clip, connected, counted, photo} from '../connected.ts';

describe('what a program tries first', () => {
  it('the SHA-256 that a journal has', async () => {
    const {client} = await connected();
    const journal = join(await temporaryDirectory(), 'journal');
    const {sha256} = await upload(clip, {client, journal});
    expect(sha256).toBe(
      createHash('sha256')
        .update(await readFile(clip))
        .digest('hex'),
    );
  });
});

describe('uploadAll', () => {
  it.each(['started', 'progress', 'warning', 'finished'])(
    'an observer whose `%s` throws: whatever was taken has its result, the journal knows it, then it rejects',
    async call => {
      const {service, client} = await connected();
      const journal = join(await temporaryDirectory(), 'uploads.journal');
      const bug = new Error('a bug');
      let isThrown = false;
      const observer = {
        [call]() {
          const first = !isThrown;
          isThrown = true;
          throw first ? bug : new Error('another bug');
        },
      };
      const picture = join(await temporaryDirectory(), 'photo.jpg');
      await copyFile(photo, picture);
      const inputs = counted([picture, clip]);
      // On a busy machine, a response may come after the 5 s for which an upload that has left is waited for.
      const host = {...systemHost(), clock: {...systemClock, after: () => () => {}}};
      const {results, thrown} = await settled(uploadOn(inputs, {client, journal, observer}, host));
      expect(thrown).toBe(bug);
      expect(results).toHaveLength(inputs.taken);
      for (const {status} of results) expect(status).not.toBe('unknown');
      const uploaded = results.filter(({status}) => status === 'uploaded').map(({file: name}) => name);
      const later = await collect(uploadAll([picture, clip], {client, journal}));
      for (const {file: name, status} of later)
        expect(status).toBe(uploaded.includes(name) ? 'skipped' : 'uploaded');
      expect(await service.records()).toHaveLength(2);
    },
  );

  it.each([1, 3, 'auto'] as const)(
    'aborted after 4 of 200 (concurrency %s): whatever was taken has its result, then it rejects',
    async concurrency => {
      const {service, client} = await connected();
      const bytes = await readFile(photo);
      const inputs = counted(
        Array.from({length: 200}, (_, index) =>
          sourceOf(`${index}.png`, Buffer.concat([bytes, Buffer.from(`${index}`)])),
        ),
      );
      const caller = new AbortController();
      const enough = new Error('enough');
      const results: UploadResult[] = [];
      const iterate = async () => {
        for await (const result of uploadAll(inputs, {client, concurrency, signal: caller.signal})) {
          results.push(result);
          if (results.length === 4) caller.abort(enough);
        }
      };
      await expect(iterate()).rejects.toBe(enough);
      expect(results.map(({position}) => position).sort((a, b) => a - b)).toEqual(
        Array.from({length: inputs.taken}, (_, index) => index),
      );
      expect(inputs.taken).toBeLessThan(200);
      expect(inputs.isClosed).toBe(true);
      const stored = results.filter(({status}) => status === 'uploaded').length;
      expect((await service.records()).length).toBe(stored);
      for (const result of results)
        if (result.attempts === 0) expect(result).toMatchObject({error: {code: 'not_tried'}});
    },
  );

  it('left while files are on their way: they are sent no further, and no more are taken', async () => {
    const bodies: Promise<number>[] = [];
    const {url} = await scriptedServer(async connection => {
      const {contentLength} = await connection.request(1);
      const whole = connection.request();
      if (contentLength > 2 ** 20) bodies.push(whole.then(({body}) => body.length));
      else await whole.then(() => connection.answer(200, someRecord));
    });
    const client = new MediaClient({baseUrl: url, apiKey: 'key-of-the-test'});
    onTestFinished(() => client.close());
    const bytes = await readFile(photo);
    const large = sourceOf('large.png', Buffer.concat([bytes, Buffer.alloc(64 * 2 ** 20)]));
    const inputs = counted([large, large, photo, large, large]);
    for await (const {status} of uploadAll(inputs, {client, concurrency: 3, limitRate: 2 ** 20})) {
      expect(status).toBe('uploaded');
      await eventually(() => bodies.length >= 2);
      break;
    }
    const {taken, isClosed} = inputs;
    expect(isClosed).toBe(true);
    for (const length of await Promise.all(bodies)) expect(length).toBeLessThan(2 ** 26);
    expect(inputs.taken).toBe(taken);
  });

  it('dry runs with a journal, one after the other: as many open files as before', async context => {
    if (!canListOpenFiles) notRun(context, 'only Linux lists the open files of a process');
    const {client} = await connected();
    const journal = join(await temporaryDirectory(), 'uploads.journal');
    await collect(uploadAll([photo], {client, journal}));
    for (let run = 0; run < 3; run += 1) {
      const [result] = await collect(uploadAll([photo], {client, journal, dryRun: true}));
      expect(result).toMatchObject({status: 'skipped'});
    }
    expect(await openFiles(journal)).toEqual([]);
  });
});
