import {once} from 'node:events';
import {utimes, writeFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {withWords} from '../../../support/hints.ts';
import {bench, compiledModules, header, openJournal, scope} from '../../../support/journal.ts';
import {endless, left, testKilled} from '../holders.ts';

describe('two runs on one journal', () => {
  it('in two processes: the second is refused at once, with the pid of the first', async () => {
    const one = await bench();
    const {child} = endless(await compiledModules(), one.path);
    await once(child.stdout, 'data');
    await expect(withWords(one.run(async () => {}))).rejects.toMatchObject({
      message: `The journal ${one.path} is in use by process ${child.pid} on ${one.host.hostName()}.`,
      hint: 'Wait until that run has ended, or use another journal.',
    });
  });
});

describe('a holder that died', () => {
  testKilled(0, 1, 20, 50);

  it.each(['its lock', 'only the journal'])(
    'by a power cut after which the clock was set back by a day, of which %s is left: taken over after 90 s',
    async what => {
      const one = await bench();
      await one.write(
        `${header}\n{"event":"open","by":"a","at":"2026-01-02T00:00:00.000Z","process":{"pid":1,"hostName":"machine","bootId":"an earlier one"}}\n`,
      );
      const tomorrow = Date.now() / 1000 + 86_400;
      await utimes(one.path, tomorrow, tomorrow);
      if (what === 'its lock') {
        await writeFile(`${one.path}.lock`, left(one, 1, {bootId: 'an earlier one', token: 'a'}));
        await utimes(`${one.path}.lock`, tomorrow, tomorrow);
      }
      let waitedMs = 0;
      const sleep = async (ms: number) => {
        waitedMs += ms;
      };
      const clock = {...one.host.clock, monotonic: () => waitedMs, sleep};
      const notes: string[] = [];
      const note = (text: string) => void notes.push(text);
      await (await openJournal(one.path, {...one.host, clock}, {scope, note})).close();
      expect(waitedMs).toBeGreaterThanOrEqual(90_000);
      expect(waitedMs).toBeLessThan(100_000);
      expect(notes.at(-1)).toMatch(/was taken over/);
    },
  );
});
