import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import type {TestContext} from 'vitest';
import {needPrograms} from './installed.ts';
import {temporaryDirectory} from './media.ts';

/**
 * What gitlab-ci-local says of a configuration, which it checks against GitLab's own schema: the names of the jobs, or the
 * complaint. Skips the test where the program is not installed.
 */
export async function gitlabJobs(
  context: TestContext,
  configuration: string,
): Promise<{jobs: string[]; complaint: string}> {
  needPrograms(context, ['gitlab-ci-local']);
  const cwd = await temporaryDirectory();
  await execa('git', ['init', '--quiet'], {cwd});
  await writeFile(join(cwd, '.gitlab-ci.yml'), configuration);
  const {failed, stdout, stderr} = await execa('gitlab-ci-local', ['--list-csv'], {cwd, reject: false});
  const [, ...rows] = stdout.split('\n');
  return {jobs: failed ? [] : rows.map(row => row.split(';')[0] ?? ''), complaint: failed ? stderr : ''};
}
