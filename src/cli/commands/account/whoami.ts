import type {KeyVerdict} from '../../../engine/service/key-identity.ts';
import {describeRefusal} from '../../../engine/transfer/attempt/explain.ts';
import {exitStatusOf} from '../../../errors.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {WhoamiReport} from '../../output/json-output.ts';
import {type Cli, CliCommand, type ExitStatus, type Invocation} from '../../session/invocation.ts';
import {timeoutOption} from '../../session/values.ts';
import {hintOptions} from '../../settings/hint-options.ts';
import type {Settings} from '../../settings/settings.ts';

export function whoamiCommand(cli: Cli): CliCommand {
  return new CliCommand('whoami', cli)
    .description('Show the profile, service and key, and whether the key works.')
    .option('--json', 'print the report as JSON')
    .addOption(timeoutOption())
    .examples(['media whoami', 'media whoami --json | jq -r .status', 'media whoami --base-url embedded'])
    .runs(runWhoami);
}

/** Prints the report; exit status 0 if the key is accepted, 4 missing or refused, 6 unreachable, 1 unclear. */
export async function runWhoami(
  {json, timeout: timeoutMs}: {json?: boolean; timeout: number},
  invocation: Invocation,
): Promise<ExitStatus> {
  const {resolveSettings} = await import('../../settings/settings.ts');
  const settings = await resolveSettings(invocation.host, invocation.globals);
  const {profileName: profile, baseUrl, key} = settings;
  const isEmbedded = baseUrl?.kind === 'embedded';
  const canAsk = isEmbedded || (baseUrl !== undefined && key !== undefined);
  const {exitStatus, ...check} = canAsk
    ? await askService(settings, invocation, timeoutMs)
    : await missingKeyCheck(settings);
  const report: WhoamiReport = {
    profile,
    baseUrl: isEmbedded ? 'embedded' : (baseUrl?.url.href ?? null),
    baseUrlSource: settings.baseUrlSource?.place ?? null,
    key: isEmbedded
      ? {masked: '********', source: 'embedded'}
      : key === undefined
        ? null
        : {masked: key.secret.mask(), source: key.source},
    ...check,
  };
  await invocation.stdout.write(json ? jsonLine(report) : reportText(report));
  return exitStatus;
}

/** What the service, or the lack of settings, says of the key. */
type KeyCheck = Omit<WhoamiReport, 'profile' | 'baseUrl' | 'baseUrlSource' | 'key'> & {
  exitStatus: ExitStatus;
};

async function missingKeyCheck(settings: Settings): Promise<KeyCheck> {
  const {missingSettings} = await import('../../hints/key-hints.ts');
  const {message, hint} = missingSettings(settings);
  return {status: 'missing', message, ...omitUndefined({hint}), exitStatus: 4};
}

async function askService(settings: Settings, invocation: Invocation, timeoutMs: number): Promise<KeyCheck> {
  const [{openSessionFor, withTimeout, withSession}, {verifyKey, whoOwnsKey}] = await Promise.all([
    import('../../session/session.ts'),
    import('../../../engine/service/key-identity.ts'),
  ]);
  return withSession(await openSessionFor(settings, invocation), async ({client}) => {
    const verdict = await withTimeout(invocation, timeoutMs, signal => verifyKey(client, signal));
    const {status} = verdict;
    const identity =
      status === 'accepted'
        ? await withTimeout(invocation, timeoutMs, signal => whoOwnsKey(client, signal))
        : undefined;
    const {message, httpStatus} =
      status === 'unreachable'
        ? {message: verdict.error.message, httpStatus: undefined}
        : {message: undefined, httpStatus: undefined, ...verdict};
    const hint = await hintFor(verdict, settings);
    const profileUrl = status === 'rejected' ? settings.profileUrl : undefined;
    return {
      status,
      ...omitUndefined({httpStatus, message, hint, profileUrl, identity}),
      exitStatus: status === 'unreachable' ? exitStatusOf[verdict.error.code] : exitStatuses[status],
    };
  });
}

const exitStatuses = {accepted: 0, rejected: 4, denied: 4, unclear: 1};

/** The hint does not repeat the page with the keys, which has its own line in the report. */
async function hintFor(
  verdict: KeyVerdict,
  {profileUrl, ...settings}: Settings,
): Promise<string | undefined> {
  const {refusedKeyHint, withKeyHint} = await import('../../hints/key-hints.ts');
  const face = withKeyHint(refusedKeyHint(settings));
  if (verdict.status === 'rejected') return describeRefusal(verdict.refusal, '').inWordsOf(face).hint;
  if (verdict.status === 'unreachable') return verdict.error.inWordsOf(face).hint;
  return verdict.status === 'accepted' ? undefined : `To find out why: media doctor${hintOptions(settings)}`;
}

/** What a status means, where the word says too little. */
const verdictTexts: {[status in WhoamiReport['status']]?: string} = {
  rejected: 'rejected: the key is not accepted',
  denied: 'refused: the key lacks permission, or the base URL is wrong',
};

const sourceTexts = {
  environment: 'from MEDIA_API_KEY',
  profile: 'stored in the profile',
  keychain: 'from the keychain',
  command: 'from key-command',
  embedded: 'made for this run',
};

/** The report on standard output as text: one fact per line. */
function reportText(report: WhoamiReport): string {
  const {identity} = report;
  const status = `${verdictTexts[report.status] ?? report.status}${report.httpStatus === undefined ? '' : ` (${report.httpStatus})`}`;
  const rows: [string, string | undefined][] = [
    ['profile', report.profile],
    ['base URL', report.baseUrl === null ? 'none' : `${report.baseUrl}, from ${report.baseUrlSource}`],
    ['key', report.key === null ? 'none' : `${report.key.masked}, ${sourceTexts[report.key.source]}`],
    ['status', report.message === undefined ? status : `${status}: ${report.message}`],
    ['keys', report.profileUrl],
    ['next', report.hint],
    ['id', identity?.id],
    ['name', identity?.name],
    ['email', identity?.email],
    ['username', identity?.username],
  ];
  return rows
    .map(([name, value]) => (value === undefined ? '' : `${name.padEnd(9)} ${printable(value)}\n`))
    .join('');
}
