import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {temporaryDirectory} from './media.ts';

/**
 * What gitlab-ci-local says of a configuration, which it checks against GitLab's own schema: the names of the jobs, or the
 * complaint.
 */
export async function gitlabJobs(configuration: string): Promise<{jobs: string[]; complaint: string}> {
  const cwd = await temporaryDirectory();
  await execa('git', ['init', '--quiet'], {cwd});
  await writeFile(join(cwd, '.gitlab-ci.yml'), configuration);
  const {failed, stdout, stderr} = await execa('gitlab-ci-local', ['--list-csv'], {cwd, reject: false});
  const [, ...rows] = stdout.split('\n');
  return {jobs: failed ? [] : rows.map(row => row.split(';')[0] ?? ''), complaint: failed ? stderr : ''};
}
