import type {ExitStatus, Invocation} from '../../../cli/invocation.ts';
import {exitStatusOf} from '../../../errors.ts';
import type {UploadFlags} from '../setup/flags.ts';
import type {GithubReport} from './github.ts';

/**
 * Does a run that reports to the CI system, if `--ci` asks for it, and returns its exit status; failing to report is a
 * failure.
 */
export async function withCiReport(
  {ci, dryRun}: Pick<UploadFlags, 'ci' | 'dryRun'>,
  invocation: Invocation,
  run: (report: GithubReport | undefined) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const {reportsToGithub} = await import('../../../output/ci.ts');
  if (!reportsToGithub(ci, invocation.host.env)) return run(undefined);
  const {GithubReport} = await import('./github.ts');
  const report = new GithubReport(invocation, dryRun === true);
  try {
    return await end(report, await run(report), invocation);
  } catch (error) {
    const {asMediaError} = await import('../../../output/report.ts');
    report.failed(asMediaError(error));
    await end(report, 1, invocation);
    throw error;
  }
}

async function end(github: GithubReport, status: ExitStatus, {report}: Invocation): Promise<ExitStatus> {
  const failure = await github.end(status);
  if (failure === undefined) return status;
  report.failure(failure);
  return status === 0 ? exitStatusOf[failure.code] : status;
}
