import {noUrlError, publicUrl} from '../../../engine/service/record.ts';
import {Disk} from '../../../engine/sources/open/disk.ts';
import {filesIn} from '../../../engine/sources/open/file-source.ts';
import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {asMediaError} from '../../output/report.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';
import type {RunOutput} from './display.ts';
import {type UploadFlags, uploadDefaults} from './flags.ts';
import {UploadRun} from './upload-run.ts';

/** Uploads files or the clipboard for another command, which prints the outcomes; failures are reported here. */
export async function uploadFiles(
  files: readonly string[] | 'clipboard',
  flags: Partial<UploadFlags>,
  invocation: Invocation,
): Promise<{status: ExitStatus; outcomes: Outcome[]}> {
  const clipboard = files === 'clipboard';
  const {host} = invocation;
  const {journal, manifest, source = filesIn(host.cwd(), new Disk(host.files))} = flags;
  // Unless the flags say otherwise, with this machine's own journal.
  const once = journal === undefined && manifest === undefined && flags.once !== false;
  const inputs = clipboard ? [] : files;
  const outcomes: Outcome[] = [];
  const options = {...uploadDefaults, ...flags, clipboard, source, inputs, once};
  return {status: await startRun(options, invocation, {outcomes}), outcomes};
}

/** Makes one run, with a report to GitHub Actions if `--ci` asks for one; failing to report is a failure. */
export async function startRun(options: UploadFlags, invocation: Invocation, output: RunOutput) {
  const run = new UploadRun(options, invocation, output);
  const {env} = invocation.host;
  if (!options.ci || !(await import('../../output/ci.ts')).isOnGithub(env)) return run.execute();
  const {GithubReport} = await import('./github.ts');
  const report = new GithubReport(invocation, run.tally);
  try {
    return await report.end(await run.execute(report));
  } catch (error) {
    report.addFailure(asMediaError(error));
    await report.end(1);
    throw error;
  }
}

/** The URL of an uploaded file; throws why it was not uploaded, or `no_url` if its record has none. */
export function uploadedUrl(name: string, outcome?: Outcome): string {
  if (outcome !== undefined && 'error' in outcome) throw outcome.error;
  const record = outcome !== undefined && 'record' in outcome ? outcome.record : {};
  const url = publicUrl(record);
  if (url === undefined) throw noUrlError(name, record);
  return url;
}
