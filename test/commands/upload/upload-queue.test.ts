import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import type {Invocation} from '../../../src/cli/invocation.ts';
import {UploadQueue} from '../../../src/commands/upload/upload-queue.ts';
import {MediaError} from '../../../src/errors.ts';
import {nextTurn} from '../../../src/host.ts';
import {Report} from '../../../src/output/report.ts';
import {Stdout} from '../../../src/output/stdout.ts';
import {Disk} from '../../../src/sources/open/disk.ts';
import {sourceAt} from '../../../src/sources/open/file.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {hostIn} from '../../support/journal.ts';
import {fixture} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

test(
  'a file that is added while the queue closes, at any moment of that: is uploaded',
  slowTest,
  async () => {
    const {sandbox, service} = await connectedSandbox();
    const names = ['photo.png', 'photo.gif', 'photo.webp'];
    for (const name of names) await copyFile(fixture(name), join(sandbox.directory, name));
    let beIdle: (() => void) | undefined;
    const real = hostIn(sandbox.directory, {
      env: {...sandbox.env, XDG_STATE_HOME: sandbox.directory},
      platform: 'linux',
    });
    /** A queue is idle when the test says so. */
    const after = (ms: number, action: () => void) => {
      if (ms !== 2_000) return real.clock.after(ms, action);
      beIdle = action;
      return () => {};
    };
    const host = {...real, clock: {...real.clock, after}};
    const stream = new PassThrough().resume();
    const invocation: Invocation = {
      ...{host, stdout: new Stdout(stream), globals: {}, argv: [], given: () => [], abandon: () => {}},
      report: new Report({stream, json: false, color: false, level: 'quiet'}),
    };
    const queue = new UploadQueue(invocation, {waitsForService: false, flags: {once: false}});
    const add = (at: number) => {
      const name = names[at % names.length] ?? '';
      return queue.add(sourceAt(new Disk(), name, join(sandbox.directory, name), false));
    };
    const moments = 40;
    for (let moment = 0; moment < moments; moment += 1) {
      beIdle = undefined;
      await add(0);
      for (let turn = 0; beIdle === undefined && turn < 1000; turn += 1) await nextTurn();
      (beIdle as (() => void) | undefined)?.();
      if (moment < 10) for (let turn = 0; turn < moment; turn += 1) await undefined;
      else for (let turn = 10; turn < moment; turn += 1) await nextTurn();
      expect(await add(moment)).toMatchObject({status: 'uploaded'});
    }
    await queue.stop(new MediaError('interrupted', 'The test is over.'));
    await expect(add(0)).rejects.toMatchObject({code: 'interrupted'});
    expect(await service.records()).toHaveLength(2 * moments);
  },
);
