import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {example} from '../../support/examples.ts';
import {needPrograms} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, makeBatch, shardCount} from './batch.ts';
import {needLogin, sshPrograms, startMachines} from './ssh-machines.ts';

/** What GNU parallel's log says of each part: where its last try ended, and how. */
async function tries(batch: Batch): Promise<{part: number; host: string | undefined; status: number}[]> {
  const [, ...lines] = (await readFile(join(batch.directory, 'parts.log'), 'utf8')).trimEnd().split('\n');
  return lines
    .map(line => line.split('\t'))
    .map(([part, host, , , , , status]) => ({part: Number(part), host, status: Number(status)}))
    .sort((one, other) => one.part - other.part);
}

describe('GNU parallel over ssh', slowTest, () => {
  it('one part ended in mid-batch, tried again elsewhere: each input stands and is stored once', async context => {
    needPrograms(context, sshPrograms);
    needLogin(context);
    const batch = await makeBatch({closed: true});
    const ssh = await startMachines(batch);
    const part = batch.big.shard;
    const command = example('docs/sharding.md', 'bash', 'parallel --sshlogin');
    const run = () =>
      execa('bash', ['-c', command], {
        ...batch.machine,
        env: {...batch.machine.env, PARALLEL_SSH: ssh},
        ...slowTest,
      });

    const running = run();
    await batch.inMidBatch(`part-${part}.journal`);
    await batch.end(`part-${part}.journal`, 'SIGTERM');
    await batch.letResumedThrough();

    expect(await running).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(batch.summaryOfResumed),
    });
    expect(await tries(batch)).toEqual(
      Array.from({length: shardCount}, (_, index) => ({
        part: index + 1,
        host: expect.stringMatching(/^n[12]$/),
        status: 0,
      })),
    );
    await batch.prove();
    expect(await run()).toMatchObject({exitCode: 0, stdout: '', stderr: ''});
  });
});
