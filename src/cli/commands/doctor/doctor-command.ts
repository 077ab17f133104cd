import {exitStatusOf, firstStatus} from '../../../errors.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {DoctorReport} from '../../output/json-output.ts';
import {errorFields, type Report} from '../../output/report.ts';
import type {CliCommand, ExitStatus, Invocation} from '../../session/invocation.ts';
import {type CheckResult, checkLabels} from './check-result.ts';

export function doctorCommand(doctor: CliCommand): void {
  doctor
    .description('Find out why uploads fail, without uploading anything.')
    .option('--json', 'print the checks as JSON')
    .examples([
      'media doctor',
      'media doctor --profile staging',
      'media doctor --json | jq -r \'.checks[] | select(.status == "failed") | .error.code\'',
    ])
    .runs(runDoctor);
}

/** Runs all possible checks and prints a line for each; exit status 0 all well, 4 the key, 6 unreachable, 1 other. */
export async function runDoctor({json}: {json?: boolean}, invocation: Invocation): Promise<ExitStatus> {
  const {runChecks} = await import('./account-checks.ts');
  const results = await runChecks(invocation);
  const {inWords} = invocation.report;
  await invocation.stdout.write(
    json ? reportJson(results, inWords) : results.map(result => reportLine(result, inWords)).join(''),
  );
  const failed = results.flatMap(result => (result.status === 'failed' ? result.error : []));
  return firstStatus(new Set(failed.map(({code}) => exitStatusOf[code])));
}

/** A check as text: its status, its name and what was found, with the hint of a failure on a second line. */
function reportLine(result: CheckResult, inWords: Report['inWords']): string {
  const head = result.status.padEnd(12) + checkLabels[result.check].padEnd(15);
  if (result.status !== 'failed') return `${head}${printable(result.message)}\n`;
  const {message, hint} = inWords(result.error);
  return `${head}${printable(message)}\n${hint === undefined ? '' : `${' '.repeat(head.length)}${printable(hint)}\n`}`;
}

/** The report of `media doctor --json` (docs/schemas): `failed` if any check has failed. */
function reportJson(results: readonly CheckResult[], inWords: Report['inWords']): string {
  const status = results.some(result => result.status === 'failed') ? 'failed' : 'ok';
  const checks = results.map(result =>
    result.status === 'failed' ? {...result, error: errorFields(inWords(result.error))} : result,
  );
  return jsonLine<DoctorReport>({status, checks});
}
