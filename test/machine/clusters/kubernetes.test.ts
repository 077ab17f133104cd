import {execa} from 'execa';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parse} from 'yaml';
import {markdown} from '../../support/examples.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, makeBatch, shardCount} from './batch.ts';

interface Container {
  command: string[];
  workingDir: string;
  env: {name: string; value?: string; valueFrom?: {secretKeyRef: {name: string; key: string}}}[];
  volumeMounts: {name: string; mountPath: string}[];
}

interface Job {
  apiVersion: string;
  kind: string;
  spec: {
    completionMode: string;
    completions: number;
    parallelism: number;
    backoffLimitPerIndex: number;
    podReplacementPolicy: string;
    template: {
      spec: {
        restartPolicy: string;
        containers: [Container];
        volumes: {name: string; persistentVolumeClaim: {claimName: string}}[];
      };
    };
  };
}

const job: Job = parse(markdown('docs/examples/kubernetes.yaml'));
const {spec} = job;
const [container] = spec.template.spec.containers;

/** Runs what the container of this index runs; its volume is the directory that all machines share. */
function startPod(batch: Batch, index: number) {
  const env: Record<string, string> = {...batch.machine.env, JOB_COMPLETION_INDEX: String(index)};
  for (const {name, value} of container.env) if (name === 'MEDIA_SHARD_COUNT') env[name] = value ?? '';
  const [file = '', ...parameters] = container.command.map(word =>
    // As Kubernetes does it: what is not set stays as it is written.
    word.replace(/\$\((\w+)\)/g, (written, name: string) => env[name] ?? written),
  );
  const pod = execa(file, parameters, {...batch.machine, env});
  onTestFinished(() => void pod.kill('SIGKILL'));
  return pod;
}

/** Runs the indexes as the Job would, `parallelism` at a time, each again until it succeeds. */
async function runJob(batch: Batch): Promise<Map<number, unknown[]>> {
  const ends = new Map<number, unknown[]>();
  const waiting = Array.from({length: spec.completions}, (_, index) => index);
  const machine = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const tries: unknown[] = [];
      ends.set(index, tries);
      do {
        const {exitCode, signal} = await startPod(batch, index);
        tries.push(signal ?? exitCode);
      } while (tries.at(-1) !== 0 && tries.length <= spec.backoffLimitPerIndex);
    }
  };
  await Promise.all(Array.from({length: spec.parallelism}, machine));
  return ends;
}

describe('a Kubernetes indexed Job', () => {
  it('gives each index a part, and an index a second pod only when the first has ended', () => {
    expect(job).toMatchObject({apiVersion: 'batch/v1', kind: 'Job'});
    expect(spec).toMatchObject({completionMode: 'Indexed', completions: shardCount});
    expect(spec.parallelism).toBeLessThan(spec.completions);
    expect(container.env).toContainEqual({name: 'MEDIA_SHARD_COUNT', value: String(spec.completions)});
    expect(spec.podReplacementPolicy).toBe('Failed');
    // What backoffLimitPerIndex asks for.
    expect(spec.template.spec.restartPolicy).toBe('Never');
  });

  it('takes the key from a secret, and works where the volume is', () => {
    const key = container.env.find(({name}) => name === 'MEDIA_API_KEY');
    expect(key).toEqual({name: 'MEDIA_API_KEY', valueFrom: {secretKeyRef: expect.anything()}});
    expect(container.volumeMounts).toEqual([
      {name: spec.template.spec.volumes[0]?.name, mountPath: container.workingDir},
    ]);
  });

  it('one pod killed in mid-batch: each input stands and is stored exactly once', slowTest, async () => {
    const batch = await makeBatch({closed: true});
    const index = batch.big.shard - 1;
    const journal = `part-${index}.journal`;

    const running = runJob(batch);
    await batch.inMidBatch(journal);
    await batch.end(journal, 'SIGKILL');
    await batch.letResumedThrough();

    const ends = await running;
    expect([...ends].filter(([, tries]) => tries.length > 1)).toEqual([[index, ['SIGKILL', 0]]]);
    await batch.prove();
  });
});
