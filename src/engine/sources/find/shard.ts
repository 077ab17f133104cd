import {hash} from 'node:crypto';
import {MediaError} from '../../../errors.ts';
import {hint, option} from '../../../hint.ts';
import type {Host} from '../../../host.ts';
import {own} from '../../../lib/object.ts';
import type {Source} from '../open/source.ts';

/** One machine's share of the inputs: number `index` of `count`, from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** Parses a value such as `3/16`; anything else is a usage error. */
export function parseShard(value: string): Shard {
  const [, index, count] = /^(\d{1,9})\/(\d{1,9})$/.exec(value)?.map(Number) ?? [];
  if (index === undefined || count === undefined || index < 1 || index > count) {
    const sentence = `A shard is K/N, with K from 1 to N, or auto; not "${value.slice(0, 60)}".`;
    const example = hint`For example ${option('shard', '3/16')} for the third of 16 parts.`;
    throw new MediaError('usage', sentence, {hint: example});
  }
  return {index, count};
}

/**
 * The shard, from 1 to `count`, of a relative path: the first eight bytes of its SHA-256, big-endian, modulo `count`,
 * plus one. It must never change: machines with different versions, and runs that continue a journal, depend on it.
 */
export function shardOf(relativePath: string | Uint8Array, count: number): number {
  const digest = hash('sha256', relativePath, 'buffer');
  return Number(digest.readBigUInt64BE() % BigInt(count)) + 1;
}

/** Whether a source belongs to a shard. A source that may be files of any shard belongs to all. */
export function inShard(source: Source, shard: Shard): boolean {
  if (source.everyShard || shard.count === 1) return true;
  return shardOf(source.relativePath ?? source.name, shard.count) === shard.index;
}

/** The sources that belong to a shard, in their order. */
export async function* ownShare(sources: AsyncIterable<Source>, shard: Shard): AsyncGenerator<Source> {
  for await (const source of sources) if (inShard(source, shard)) yield source;
}

/** The variables of a job engine; without `total`, MEDIA_SHARD_COUNT is required. */
interface JobEngine {
  name: string;
  index: string;
  total?: string;
  /** The number of its first job. */
  first: 0 | 1;
}

const countVariable = 'MEDIA_SHARD_COUNT';

/** The job engines that number their jobs, except Slurm, according to their manuals. */
export const jobEngines: readonly JobEngine[] = [
  // Without `parallel`, it sets CI_NODE_TOTAL but not the index.
  {name: 'GitLab', index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1},
  {name: 'CircleCI', index: 'CIRCLE_NODE_INDEX', total: 'CIRCLE_NODE_TOTAL', first: 0},
  {name: 'Buildkite', index: 'BUILDKITE_PARALLEL_JOB', total: 'BUILDKITE_PARALLEL_JOB_COUNT', first: 0},
  {name: 'AWS Batch', index: 'AWS_BATCH_JOB_ARRAY_INDEX', total: 'AWS_BATCH_JOB_ARRAY_SIZE', first: 0},
  {name: 'Kubernetes', index: 'JOB_COMPLETION_INDEX', first: 0},
];

/**
 * The shard that the surrounding job engine assigned to this job: Slurm arrays, GitLab, CircleCI, Buildkite, AWS Batch
 * arrays, and Kubernetes indexed Jobs, whose number must be in MEDIA_SHARD_COUNT. For other engines that variable must
 * agree, if set. A usage error if there is no engine or a contradiction: a wrong guess would lose files.
 */
export function autoShard(env: Host['env']): Shard {
  const engines = jobEngines.map(engine => engineShard(engine, env));
  const findings = [slurmShard(env), ...engines].filter(finding => finding !== undefined);
  // An engine with a single job may run within another engine that splits the work.
  const splitting = findings.filter(({shard}) => shard.count > 1);
  const [first, ...others] = splitting.length > 0 ? splitting : findings;
  if (first === undefined) throw noJobEngineError();
  const other = others.find(({shard}) => shardText(shard) !== shardText(first.shard));
  const fact = `${first.engine} says ${shardText(first.shard)}, but`;
  if (other !== undefined) throw shardError(`${fact} ${other.engine} ${shardText(other.shard)}`);
  const count = readNumber(env, countVariable);
  if (count !== undefined && count !== first.shard.count)
    throw shardError(`${fact} ${countVariable} is ${count}`);
  return first.shard;
}

/** The shard by an engine's variables; undefined outside of it. Throws if they are incomplete or contradictory. */
function engineShard(engine: JobEngine, env: Host['env']) {
  const {name, first} = engine;
  const index = readNumber(env, engine.index);
  const total = engine.total === undefined ? undefined : readNumber(env, engine.total);
  const count = total ?? readNumber(env, countVariable);
  if (index === undefined) {
    if (total === undefined) return undefined;
    if (total > 1) throw shardError(`${engine.total} is ${total}, but ${engine.index} is not set`);
    return {engine: name, shard: {index: 1, count: 1}};
  }
  if (count === undefined)
    throw shardError(`${engine.index} is ${index}, but ${engine.total ?? countVariable} is not set`);
  if (index < first || index - first >= count)
    throw shardError(`${engine.index} is ${index}, which is not one of ${count} jobs numbered from ${first}`);
  return {engine: name, shard: {index: index - first + 1, count}};
}

/** The shard by the variables of a Slurm array, which needs MEDIA_SHARD_COUNT too; undefined outside of an array. */
function slurmShard(env: Host['env']) {
  const id = readNumber(env, 'SLURM_ARRAY_TASK_ID');
  if (id === undefined) return undefined;
  const [least, most, count] = ['MIN', 'MAX', 'COUNT'].map(one => readNumber(env, `SLURM_ARRAY_TASK_${one}`));
  if (least === undefined || most === undefined || count === undefined)
    throw shardError('SLURM_ARRAY_TASK_ID is set, but not SLURM_ARRAY_TASK_MIN, _MAX and _COUNT');
  const step = readNumber(env, 'SLURM_ARRAY_TASK_STEP') || 1;
  const index = (id - least) / step;
  const isRegular = Math.floor((most - least) / step) + 1 === count;
  if (!isRegular || !Number.isInteger(index) || index < 0 || index >= count)
    throw shardError(
      `task ${id} of a Slurm array of ${count} from ${least} to ${most} in steps of ${step} cannot be matched to a part`,
    );
  // A resubmitted task of `sbatch --array=5-7`, or `--array=1`, would look like a whole array and upload everything.
  if (readNumber(env, countVariable) === undefined)
    throw shardError(
      `a Slurm array of ${count} may be part of a larger one, and ${countVariable} does not say how many parts there are`,
    );
  return {engine: 'Slurm', shard: {index: index + 1, count}};
}

/** A variable as a whole number; undefined if it is unset or empty, a usage error for anything else. */
function readNumber(env: Host['env'], variable: string): number | undefined {
  const value = own(env, variable);
  if (value === undefined || value === '') return undefined;
  if (!/^\d{1,9}$/.test(value)) throw shardError(`${variable} is "${value.slice(0, 60)}", not a number`);
  return Number(value);
}

/** A shard as it is typed: `3/16`. */
function shardText({index, count}: Shard): string {
  return `${index}/${count}`;
}

/** The error for variables of job engines that do not name one shard; `what`: the end of the sentence. */
function shardError(what: string): MediaError {
  const ofSlurm = option('shard', '$SLURM_ARRAY_TASK_ID/N');
  const advice = hint`Set it with ${option('shard', 'K/N')}; in a Slurm array numbered from 1, ${ofSlurm}.`;
  return new MediaError('usage', `The part of this job cannot be determined: ${what}.`, {hint: advice});
}

/** The error where no variable of a job engine is set. */
function noJobEngineError(): MediaError {
  const variables = jobEngines.map(({name, index}) => `${index} (${name})`).join(', ');
  const sentence = `No batch system was found: none of SLURM_ARRAY_TASK_ID (Slurm), ${variables} is set.`;
  const advice = hint`Set the part with ${option('shard', 'K/N')}. On Kubernetes, also set ${countVariable} to N.`;
  return new MediaError('usage', sentence, {hint: advice});
}
