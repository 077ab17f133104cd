import type {ExitStatus, Invocation} from '../../cli/invocation.ts';
import type {LeftOut, Outcome} from '../../transfer/outcome.ts';
import {withCiReport} from './report/ci-report.ts';
import {UploadRun} from './run.ts';
import {type UploadFlags, uploadDefaults} from './setup/flags.ts';
import {fileInputs, typeDecision} from './setup/inputs.ts';

/**
 * Uploads files, or what the clipboard contains, for another command, which receives the outcomes and prints what it needs;
 * failures and progress are reported as by `media upload`, to a CI system too. What this machine has already uploaded is skipped, unless `once`
 * is false.
 */
export async function uploadFiles(
  files: readonly string[] | 'clipboard',
  flags: Partial<UploadFlags>,
  invocation: Invocation,
  take: (outcome: Outcome) => void,
): Promise<ExitStatus> {
  const {journal} = flags;
  const clipboard = files === 'clipboard';
  const given = {...flags, clipboard, inputs: clipboard ? [] : [...files]};
  const options = {...uploadDefaults, once: journal === undefined, ...given};
  const results = {
    add: async (outcome: Outcome | LeftOut) => {
      if (outcome.status !== 'left out') take(outcome);
    },
    end: async () => {},
  };
  const inputs = clipboard ? undefined : fileInputs(files, invocation.host.cwd());
  const decideType = await typeDecision(options);
  return withCiReport(options, invocation, ci =>
    new UploadRun(options, invocation, {inputs, results}, ci).execute(decideType),
  );
}
