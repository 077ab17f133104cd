import {describeRefusal} from '../../../engine/transfer/attempt/explain.ts';
import {exitStatusOf} from '../../../errors.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {WhoamiReport} from '../../output/json-output.ts';
import type {CliCommand, Invocation} from '../../session/invocation.ts';
import {timeoutOption} from '../../session/values.ts';
import {hintOptions} from '../../settings/hint-options.ts';
import type {Settings} from '../../settings/settings.ts';

export function whoamiCommand(whoami: CliCommand): void {
  whoami
    .description('Show the profile, service and key, and whether the key works.')
    .option('--json', 'print the report as JSON')
    .addOption(timeoutOption())
    .examples(['media whoami', 'media whoami --json | jq -r .status', 'media whoami --base-url embedded'])
    .runs(runWhoami);
}

/** Prints the report; exit status 0 if the key is accepted, 4 missing or refused, 6 unreachable, 1 unclear. */
async function runWhoami(options: {json?: boolean; timeout: number}, invocation: Invocation) {
  const {resolveSettings} = await import('../../settings/settings.ts');
  const settings = await resolveSettings(invocation.host, invocation.globals);
  const {profileName: profile, baseUrl, key} = settings;
  const isEmbedded = baseUrl === 'embedded';
  const {exitStatus, ...check} = await checkKey(settings, invocation, options.timeout);
  const ownKey = key && {masked: key.secret.mask(), source: key.source};
  const report: WhoamiReport = {
    profile,
    baseUrl: baseUrl?.toString() ?? null,
    baseUrlSource: settings.baseUrlSource?.place ?? null,
    key: isEmbedded ? {masked: '********', source: 'embedded'} : (ownKey ?? null),
    ...check,
  };
  await invocation.stdout.write(options.json ? jsonLine(report) : reportText(report));
  return exitStatus;
}

/** The fields of the report about the key, and the exit status: asks the service, if there is a key to ask about. */
async function checkKey(settings: Settings, invocation: Invocation, timeoutMs: number) {
  const [{missingSettings, refusedKeyHint, withKeyHint}, {openSessionFor, withTimeout, withSession}] =
    await Promise.all([import('../../hints/key-hints.ts'), import('../../session/session.ts')]);
  const {baseUrl, key} = settings;
  if (baseUrl !== 'embedded' && (baseUrl === undefined || key === undefined)) {
    const {message, hint} = missingSettings(settings);
    return {status: 'missing', message, ...omitUndefined({hint}), exitStatus: 4} as const;
  }
  const {verifyKey, whoOwnsKey} = await import('../../../engine/service/key-identity.ts');
  return withSession(await openSessionFor(settings, invocation), async ({client}) => {
    const verdict = await withTimeout(invocation, timeoutMs, signal => verifyKey(client, signal));
    const {status} = verdict;
    if (status === 'accepted') {
      const identity = await withTimeout(invocation, timeoutMs, signal => whoOwnsKey(client, signal));
      return {status, ...omitUndefined({identity}), exitStatus: 0};
    }
    // The page with the keys has its own line in the report, so the hint does not repeat it.
    const {profileUrl, ...others} = settings;
    const face = withKeyHint(refusedKeyHint(others));
    if (status === 'unreachable') {
      const {code, message, hint} = verdict.error.inWordsOf(face);
      return {status, message, ...omitUndefined({hint}), exitStatus: exitStatusOf[code]};
    }
    const {httpStatus, message} = verdict;
    if (status === 'rejected') {
      const {hint} = describeRefusal(verdict.refusal, '').inWordsOf(face);
      return {status, ...omitUndefined({httpStatus, message, hint, profileUrl}), exitStatus: 4};
    }
    const hint = `To find out why: media doctor${hintOptions(settings)}`;
    return {status, ...omitUndefined({httpStatus, message, hint}), exitStatus: status === 'denied' ? 4 : 1};
  });
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
