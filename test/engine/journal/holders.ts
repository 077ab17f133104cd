import {once} from 'node:events';
import {access, readdir} from 'node:fs/promises';
import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {type Holder, holderHere} from '../../../src/lib/files/holder.ts';
import {type Bench, bench, compiledModules, inputOf, lookup, upload} from '../../support/journal.ts';
import {patienceMs} from '../../support/patience.ts';

/** Opens the journal of its argument, then commits and finishes uploads until it is killed, telling what is durable. */
const endlessRun = `
  const {openJournal} = await import(process.argv[1] + '/engine/journal/open.js');
  const {systemHost} = await import(process.argv[1] + '/host.js');
  const {createHash} = await import('node:crypto');
  const {writeSync} = await import('node:fs');
  const journal = await openJournal(process.argv[2], systemHost(), {scope: {service: 'https://media.example'}});
  writeSync(1, 'open\\n');
  const work = async worker => {
    for (let count = 0; ; count++) {
      const path = worker + '/' + count;
      const bytes = Buffer.from('content of ' + path);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const input = {path, size: bytes.length, typeRule: 'extension', contentType: 'image/png'};
      const source = {size: bytes.length, read: async () => bytes};
      const {log} = await journal.beginUpload(input, source);
      await log.commit(sha256);
      writeSync(1, 'commit ' + path + '\\n');
      await log.recordStored(JSON.stringify({id: path}));
      writeSync(1, 'done ' + path + '\\n');
      log.end();
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
`;

/** What a process of this machine leaves behind. */
export function left(one: Bench, pid: number, changes: Partial<Holder> = {}): string {
  return JSON.stringify({...holderHere(one.host), pid, ...changes});
}

/** A process that works with a journal until it is killed, and the lines of what is durable. */
export function endless(directory: string, path: string) {
  const child = execa(process.execPath, ['--input-type=module', '-e', endlessRun, directory, path], {
    reject: false,
    buffer: false,
    timeout: patienceMs,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {child, lines: () => text.split('\n').slice(0, -1)};
}

/** Tests a run that is killed after so much work. */
export function testKilled(...afterMs: number[]): void {
  it.each(afterMs)('killed after %i ms of work: taken over at once, with all that was durable', async ms => {
    const one = await bench();
    const {child, lines} = endless(await compiledModules(), one.path);
    await once(child.stdout, 'data');
    await new Promise(resolve => setTimeout(resolve, ms));
    child.kill('SIGKILL');
    await child;
    await access(`${one.path}.lock`);
    await one.run(async journal => {
      for (const line of lines().slice(1)) {
        const [event, path = ''] = line.split(' ');
        const {status} = await lookup(journal, inputOf(path));
        expect(event === 'done' ? ['done'] : ['done', 'unknown']).toContain(status);
      }
      await upload(journal, inputOf('after'), 'done');
    });
    expect(await readdir(one.directory)).toEqual(['uploads.ndjson']);
  });
}
