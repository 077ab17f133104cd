import {describe, expect, it} from 'vitest';
import {autoShard} from '../../../../src/engine/sources/find/shard.ts';

describe('--shard auto', () => {
  const slurm = (id: number, least: number, most: number, count: number, step?: number) => ({
    SLURM_ARRAY_TASK_ID: String(id),
    SLURM_ARRAY_TASK_MIN: String(least),
    SLURM_ARRAY_TASK_MAX: String(most),
    SLURM_ARRAY_TASK_COUNT: String(count),
    ...(step === undefined ? {} : {SLURM_ARRAY_TASK_STEP: String(step)}),
  });
  const all = (env: Record<string, string>) => ({
    ...env,
    MEDIA_SHARD_COUNT: env['SLURM_ARRAY_TASK_COUNT'] ?? '',
  });

  it.each<[string, Record<string, string>, string]>([
    ['Slurm --array=1-4', all(slurm(3, 1, 4, 4, 1)), '3/4'],
    ['Slurm --array=0-3', all(slurm(3, 0, 3, 4, 1)), '4/4'],
    ['Slurm --array=0-15:4', all(slurm(8, 0, 12, 4, 4)), '3/4'],
    ['Slurm --array=0-15:4 with the end as written', all(slurm(8, 0, 15, 4, 4)), '3/4'],
    ['Slurm --array=1-4, no step told', all(slurm(4, 1, 4, 4)), '4/4'],
    ['Slurm --array=1', all(slurm(1, 1, 1, 1, 1)), '1/1'],
    ['Slurm --array=10-13', all(slurm(12, 10, 13, 4, 1)), '3/4'],
    ['GitLab parallel: 5', {CI_NODE_INDEX: '5', CI_NODE_TOTAL: '5'}, '5/5'],
    ['GitLab without parallel', {CI_NODE_TOTAL: '1'}, '1/1'],
    ['CircleCI parallelism: 3', {CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '3'}, '1/3'],
    ['Buildkite parallelism: 3', {BUILDKITE_PARALLEL_JOB: '2', BUILDKITE_PARALLEL_JOB_COUNT: '3'}, '3/3'],
    ['Kubernetes', {JOB_COMPLETION_INDEX: '0', MEDIA_SHARD_COUNT: '8'}, '1/8'],
    ['AWS Batch', {AWS_BATCH_JOB_ARRAY_INDEX: '9', AWS_BATCH_JOB_ARRAY_SIZE: '10'}, '10/10'],
    ['AWS Batch, the total by hand', {AWS_BATCH_JOB_ARRAY_INDEX: '9', MEDIA_SHARD_COUNT: '10'}, '10/10'],
    [
      'empty variables of others',
      {CI_NODE_INDEX: '', CI_NODE_TOTAL: '', ...all(slurm(1, 1, 2, 2, 1))},
      '1/2',
    ],
    [
      'Slurm under a CI job that is not split',
      {CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1', ...all(slurm(2, 1, 4, 4, 1))},
      '2/4',
    ],
    [
      'two engines of one mind',
      {CI_NODE_INDEX: '2', CI_NODE_TOTAL: '4', ...all(slurm(2, 1, 4, 4, 1))},
      '2/4',
    ],
  ])('%s', (_, env, expected) => {
    const {index, count} = autoShard(env);
    expect(`${index}/${count}`).toBe(expected);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'no engine',
      {},
      /SLURM_ARRAY_TASK_ID.*CI_NODE_INDEX.*CIRCLE_NODE_INDEX.*BUILDKITE_PARALLEL_JOB.*AWS_BATCH_JOB_ARRAY_INDEX.*JOB_COMPLETION_INDEX/,
    ],
    ['a total alone', {MEDIA_SHARD_COUNT: '4'}, /No batch system was found/],
    ['a Slurm job that is no array', {SLURM_JOB_ID: '7'}, /No batch system was found/],
    ['a Slurm array of 1,3,9', slurm(3, 1, 9, 3, 1), /cannot be matched to a part/],
    ['a task between the steps', slurm(9, 0, 8, 3, 4), /cannot be matched to a part/],
    ['a task outside its array', slurm(9, 1, 4, 4, 1), /cannot be matched to a part/],
    ['Slurm with the id alone', {SLURM_ARRAY_TASK_ID: '3'}, /_MIN, _MAX and _COUNT/],
    ['a Slurm array without the number of parts', slurm(3, 1, 4, 4, 1), /may be part of a larger one/],
    ['a Slurm task sent again as --array=1', slurm(1, 1, 1, 1, 1), /may be part of a larger one/],
    ['part of a Slurm array sent again', slurm(6, 5, 7, 3, 1), /may be part of a larger one/],
    ['one Slurm task sent again', slurm(5, 5, 5, 1, 1), /may be part of a larger one/],
    [
      'a part sent again where the total is known',
      {...slurm(1, 1, 2, 2, 1), MEDIA_SHARD_COUNT: '16'},
      /MEDIA_SHARD_COUNT is 16/,
    ],
    ['GitLab at 0', {CI_NODE_INDEX: '0', CI_NODE_TOTAL: '4'}, /CI_NODE_INDEX is 0/],
    ['GitLab past its end', {CI_NODE_INDEX: '5', CI_NODE_TOTAL: '4'}, /not one of 4 jobs numbered from 1/],
    ['GitLab without an index', {CI_NODE_TOTAL: '4'}, /CI_NODE_INDEX is not set/],
    ['CircleCI past its end', {CIRCLE_NODE_INDEX: '3', CIRCLE_NODE_TOTAL: '3'}, /numbered from 0/],
    ['Buildkite without a count', {BUILDKITE_PARALLEL_JOB: '0'}, /BUILDKITE_PARALLEL_JOB_COUNT is not set/],
    ['Kubernetes without a total', {JOB_COMPLETION_INDEX: '0'}, /MEDIA_SHARD_COUNT is not set/],
    ['Kubernetes past its end', {JOB_COMPLETION_INDEX: '8', MEDIA_SHARD_COUNT: '8'}, /numbered from 0/],
    ['a total of none', {JOB_COMPLETION_INDEX: '0', MEDIA_SHARD_COUNT: '0'}, /not one of 0 jobs/],
    ['no number', {CI_NODE_INDEX: 'two', CI_NODE_TOTAL: '4'}, /CI_NODE_INDEX is "two", not a number/],
    ['a negative number', {CIRCLE_NODE_INDEX: '-1', CIRCLE_NODE_TOTAL: '4'}, /not a number/],
    [
      'two engines that differ',
      {CI_NODE_INDEX: '2', CI_NODE_TOTAL: '4', ...all(slurm(3, 1, 8, 8, 1))},
      /Slurm says 3\/8, but GitLab 2\/4/,
    ],
  ])('%s is a usage error', (_, env, message) => {
    expect(() => autoShard(env)).toThrow(
      expect.objectContaining({code: 'usage', message: expect.stringMatching(message)}),
    );
  });

  it('gives the tasks of an array every shard once', () => {
    for (const [least, step, count] of [
      [0, 1, 7],
      [1, 1, 7],
      [0, 4, 5],
      [1, 3, 4],
    ] as const) {
      const most = least + step * (count - 1);
      const shards = Array.from({length: count}, (_, task) =>
        autoShard(all(slurm(least + task * step, least, most, count, step))),
      );
      expect(shards).toEqual(Array.from({length: count}, (_, index) => ({index: index + 1, count})));
    }
  });
});
