import {appendFile, copyFile, mkdir, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {markdown} from '../../support/examples.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, makeBatch, shardCount} from './batch.ts';

interface Step {
  if?: string;
  uses?: string;
  run?: string;
  with?: {name?: string; pattern?: string; path?: string; 'merge-multiple'?: boolean; overwrite?: boolean};
}

interface WorkflowJob {
  strategy?: {'fail-fast': boolean; matrix: {part: number[]}};
  env?: Record<string, string>;
  needs?: string;
  steps: Step[];
}

const workflow: {on: string; jobs: {upload: WorkflowJob; prove: WorkflowJob}} = parse(
  markdown('docs/examples/github-parts.yml'),
);
const {upload, prove} = workflow.jobs;
const parts = upload.strategy?.matrix.part ?? [];

/** As much of GitHub's runner as the recipe takes: jobs with a checkout each, shell steps, and artifacts that stay. */
class Run {
  readonly #batch: Batch;
  /** The names of the files in each artifact. */
  readonly #artifacts = new Map<string, string[]>();
  attempt = 1;

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** Where a job works. */
  directory(name: string): string {
    return join(this.#batch.directory, `${name}-${this.attempt}`);
  }

  /** Runs a job in a directory of its own; resolves to whether it succeeded. */
  async job(name: string, {steps}: WorkflowJob, part?: number): Promise<boolean> {
    const directory = this.directory(name);
    await mkdir(directory);
    let succeeded = true;
    for (const step of steps) {
      if (!succeeded && step.if !== 'always()') continue;
      if (step.if === 'github.run_attempt > 1' && this.attempt === 1) continue;
      if (!(await this.#step(JSON.parse(filledIn(JSON.stringify(step), part)), directory))) succeeded = false;
    }
    return succeeded;
  }

  async #step(step: Step, directory: string): Promise<boolean> {
    switch (step.uses?.split('@')[0]) {
      case undefined:
        return this.#shell(step.run ?? 'false', directory);
      case 'actions/checkout':
        return this.#batch.checkout(directory).then(() => true);
      case 'actions/upload-artifact':
        return this.#upload(step.with?.name ?? '', step.with?.path ?? '', directory);
      case 'actions/download-artifact':
        return this.#download(step.with ?? {}, directory);
      default:
        throw new Error(`This test does not know ${step.uses}.`);
    }
  }

  /** In a container, GitHub runs `sh -e`. */
  async #shell(script: string, cwd: string): Promise<boolean> {
    const {exitCode, stdout, stderr} = await execa('sh', ['-e', '-c', script], {...this.#batch.machine, cwd});
    await appendFile(join(this.#batch.directory, 'log'), `${stdout}\n${stderr}\n`);
    return exitCode === 0;
  }

  async #upload(name: string, path: string, directory: string): Promise<boolean> {
    await mkdir(join(this.#batch.directory, 'artifacts'), {recursive: true});
    await copyFile(join(directory, path), join(this.#batch.directory, 'artifacts', path));
    this.#artifacts.set(name, [path]);
    return true;
  }

  /** One that is named has to be there; a pattern takes what there is. */
  async #download({name, pattern}: NonNullable<Step['with']>, directory: string): Promise<boolean> {
    const prefix = pattern?.replace(/\*$/, '');
    const names = [...this.#artifacts.keys()].filter(key =>
      prefix === undefined ? key === name : key.startsWith(prefix),
    );
    for (const path of names.flatMap(key => this.#artifacts.get(key) ?? [])) {
      await copyFile(join(this.#batch.directory, 'artifacts', path), join(directory, path));
    }
    return prefix !== undefined || names.length === 1;
  }
}

function filledIn(text: string, part: number | undefined): string {
  return text.replaceAll(/\$\{\{ *([\w.]+) *\}\}/g, (_, expression: string) => {
    if (expression === 'matrix.part' && part !== undefined) return String(part);
    throw new Error(`This test does not know ${expression}.`);
  });
}

describe('a GitHub Actions matrix', () => {
  it('runs every part, whatever becomes of the others, and proves after all of them', () => {
    expect(workflow.on).toBe('workflow_dispatch');
    expect(parts).toEqual(Array.from({length: shardCount}, (_, index) => index + 1));
    expect(upload.strategy?.['fail-fast']).toBe(false);
    expect(upload.env?.['MEDIA_API_KEY']).toBe(`\${{ secrets.MEDIA_API_KEY }}`);
    expect(prove.needs).toBe('upload');
  });

  it('a job cancelled in mid-batch, then "Re-run failed jobs": each input once', slowTest, async () => {
    const batch = await makeBatch({closed: true});
    const run = new Run(batch);
    const part = batch.big.shard;
    const results = new Map<number, boolean>();
    const waiting = [...parts];
    const runner = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        results.set(next, await run.job(`job-${next}`, upload, next));
        await rm(join(run.directory(`job-${next}`), 'assets'), {recursive: true});
      }
    };
    const running = Promise.all([runner(), runner(), runner(), runner()]);
    const journal = `job-${part}-1/part-${part}.journal`;
    await batch.inMidBatch(journal);
    await batch.end(journal, 'SIGINT');
    await running;
    expect([...results].filter(([, succeeded]) => !succeeded)).toEqual([[part, false]]);

    run.attempt = 2;
    const again = run.job(`job-${part}`, upload, part);
    await batch.letResumedThrough();
    expect(await again).toBe(true);
    expect(await readFile(join(batch.directory, 'log'), 'utf8')).toContain(batch.summaryOfResumed);
    expect(await run.job('prove', prove)).toBe(true);
    await batch.prove(run.directory('prove'));
  });
});
