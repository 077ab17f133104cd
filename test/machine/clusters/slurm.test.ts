import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {example} from '../../support/examples.ts';
import {needPrograms} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, makeBatch, shardCount} from './batch.ts';
import {type SlurmCluster, slurmPrograms, startSlurm} from './slurm-cluster.ts';

async function writeRecipe({directory}: Batch): Promise<void> {
  await writeFile(join(directory, 'upload.sbatch'), example('docs/sharding.md', 'bash', '#SBATCH'));
}

/** All parts, each completed, none of them started again but the one named. */
function completed(restarted?: number) {
  return Array.from({length: shardCount}, (_, index) => ({
    id: index + 1,
    state: 'COMPLETED',
    exitCode: '0:0',
    restarts: index + 1 === restarted ? 1 : 0,
  }));
}

describe('a Slurm array', slowTest, () => {
  let started: Promise<SlurmCluster> | undefined;
  const sharedCluster = () => {
    started ??= startSlurm();
    return started;
  };
  afterAll(async () => (await started)?.close(), slowTest.timeout);

  it('one task requeued in mid-batch: each input stands and is stored exactly once', async context => {
    needPrograms(context, slurmPrograms);
    const batch = await makeBatch({closed: true});
    const cluster = await sharedCluster();
    const task = batch.big.shard;
    await writeRecipe(batch);

    const job = await cluster.submit(batch, 'upload.sbatch');
    await batch.inMidBatch(`part-${task}.journal`);
    await cluster.run('scontrol', 'requeue', `${job}_${task}`);
    await batch.letResumedThrough();

    expect(await cluster.finished(job)).toEqual(completed(task));
    await batch.prove();
    const output = await readFile(join(batch.directory, `slurm-${job}_${task}.out`), 'utf8');
    expect(output).toContain(batch.summaryOfResumed);
  });

  it('run as two parts of the array: they keep the split', async context => {
    needPrograms(context, slurmPrograms);
    const batch = await makeBatch();
    const cluster = await sharedCluster();
    await writeRecipe(batch);
    const jobs = [
      await cluster.submit(batch, 'upload.sbatch', '--array=3,5'),
      await cluster.submit(batch, 'upload.sbatch', '--array=1-2,4,6-8'),
    ];
    const tasks = [];
    for (const job of jobs) tasks.push(...(await cluster.finished(job)));
    expect(tasks.sort((one, other) => one.id - other.id)).toEqual(completed());
    await batch.prove();
  });

  it('--shard auto takes each task for its part, and refuses a part of the array', async context => {
    needPrograms(context, slurmPrograms);
    const batch = await makeBatch();
    const cluster = await sharedCluster();
    await writeFile(
      join(batch.directory, 'auto.sbatch'),
      '#!/bin/sh\nexport MEDIA_SHARD_COUNT=4\nexec media upload -r ./assets --shard auto --journal "part-$SLURM_ARRAY_TASK_ID.journal" --format url\n',
    );
    const whole = await cluster.finished(await cluster.submit(batch, 'auto.sbatch', '--array=0-12:4'));
    expect(whole.map(({id, state}) => [id, state])).toEqual([0, 4, 8, 12].map(id => [id, 'COMPLETED']));
    await batch.prove();

    const job = await cluster.submit(batch, 'auto.sbatch', '--array=4-8:4');
    expect((await cluster.finished(job)).map(({exitCode}) => exitCode)).toEqual(['2:0', '2:0']);
    const output = await readFile(join(batch.directory, `slurm-${job}_4.out`), 'utf8');
    expect(output).toContain('but MEDIA_SHARD_COUNT is 4');
  });
});
