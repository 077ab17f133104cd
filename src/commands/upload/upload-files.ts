import type {ExitStatus, Invocation} from '../../cli/invocation.ts';
import {exitStatusOf, MediaError} from '../../errors.ts';
import {publicUrl} from '../../service/record.ts';
import type {LeftOut, Outcome} from '../../transfer/outcome.ts';
import type {RunOutput} from './display.ts';
import {type RunFlags, type TransferFlags, type UploadFlags, uploadDefaults} from './flags.ts';
import type {GithubReport} from './github.ts';
import {fileInputs, typeDecision} from './inputs.ts';
import {UploadRun} from './run.ts';

/** Uploads files or the clipboard for another command, which prints the outcomes; as `media upload --once`, unless `once` is false. */
export async function uploadFiles(
  files: readonly string[] | 'clipboard',
  flags: Partial<UploadFlags>,
  invocation: Invocation,
): Promise<{status: ExitStatus; outcomes: Outcome[]}> {
  const clipboard = files === 'clipboard';
  const inputs = clipboard ? [] : files;
  const once = flags.journal === undefined && flags.once !== false;
  const options = {...uploadDefaults, ...flags, clipboard, inputs, once};
  const outcomes: Outcome[] = [];
  const results = {
    add: async (outcome: Outcome | LeftOut) => {
      if (outcome.status !== 'left out') outcomes.push(outcome);
    },
    end: async () => {},
  };
  const output = {inputs: clipboard ? undefined : fileInputs(files, invocation.host.cwd()), results};
  return {status: await startRun(options, invocation, output), outcomes};
}

/** Makes one run, with its report to the CI system, and returns its exit status. */
export async function startRun(
  options: UploadFlags,
  invocation: Invocation,
  output: RunOutput,
): Promise<ExitStatus> {
  const decideType = await typeDecision(options);
  return withCiReport(options, invocation, ci =>
    new UploadRun(options, invocation, output, ci).execute(decideType),
  );
}

/** Makes a run with its report to the CI system, if `--ci` asks for one; failing to report is a failure. */
async function withCiReport(
  {ci, dryRun}: RunFlags & TransferFlags,
  invocation: Invocation,
  run: (report: GithubReport | undefined) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  if (ci === undefined) return run(undefined);
  const {reportsToGithub} = await import('../../output/ci.ts');
  if (!reportsToGithub(ci, invocation.host.env)) return run(undefined);
  const {GithubReport} = await import('./github.ts');
  const report = new GithubReport(invocation, dryRun === true);
  try {
    return await end(report, await run(report), invocation);
  } catch (error) {
    const {asMediaError} = await import('../../output/report.ts');
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

/** The URL of an uploaded file; throws why it was not uploaded, or `unexpected_answer` if its record has no URL. */
export function uploadedUrl(name: string, outcome: Outcome | LeftOut | undefined): string {
  if (outcome !== undefined && 'error' in outcome) throw outcome.error;
  const url = outcome !== undefined && 'received' in outcome ? publicUrl(outcome.received.record) : undefined;
  if (url !== undefined) return url;
  throw new MediaError('unexpected_answer', `${name} was uploaded, but its record has no URL.`);
}
