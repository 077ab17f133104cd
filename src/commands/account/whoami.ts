import {Command} from 'commander';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from '../../cli/invocation.ts';
import {keyFacts, missingSettings, refusedKeyHint} from '../../cli/key-hints.ts';
import {timeoutOption} from '../../cli/values.ts';
import {exitStatusOf} from '../../errors.ts';
import {defined} from '../../lib/object.ts';
import {printable, printableJson} from '../../output/escape.ts';
import type {Identity, KeyVerdict} from '../../service/identity.ts';
import type {KeySource, Settings} from '../../settings/settings.ts';

export interface WhoamiOptions {
  json?: boolean;
  /** Milliseconds. */
  timeout: number;
}

/** Declares `media whoami`. */
export function whoamiCommand(cli: Cli, run = runWhoami): Command {
  return new Command('whoami')
    .description('Show which profile, service and key are used, and whether the service accepts the key.')
    .option('--json', 'print the report as JSON')
    .addOption(timeoutOption())
    .addHelpText(
      'after',
      examples(['media whoami', 'media whoami --json | jq -r .status', 'media whoami --base-url embedded']),
    )
    .action(async (options: WhoamiOptions, command: Command) => {
      cli.status = await run(options, invocationOf(cli, command));
    });
}

/** The report of `media whoami --json`; the table shows the same. */
interface WhoamiReport {
  profile: string;
  baseUrl: string | null;
  key: {masked: string; source: KeySource | 'embedded'} | null;
  status: KeyVerdict['status'] | 'missing';
  httpStatus?: number;
  message?: string;
  /** What to do, unless the key is accepted. */
  hint?: string;
  /** The page where keys are changed, if the service does not know this one. */
  profileUrl?: string;
  identity?: Identity;
}

/** Prints the report; exit status 0 if the key is accepted, 4 missing or refused, 6 unreachable, 1 unclear. */
export async function runWhoami(options: WhoamiOptions, invocation: Invocation): Promise<ExitStatus> {
  const {resolveSettings} = await import('../../settings/settings.ts');
  const settings = await resolveSettings(invocation.host, invocation.globals);
  const facts = describeSettings(settings);
  const {report, status} =
    facts.key === null || facts.baseUrl === null
      ? missing(facts, settings, invocation)
      : await ask(facts, settings, invocation, options.timeout);
  await invocation.stdout.write(
    options.json ? `${printableJson(JSON.stringify(report))}\n` : reportText(report),
  );
  return status;
}

type Facts = Pick<WhoamiReport, 'profile' | 'baseUrl' | 'key'>;

function describeSettings(settings: Settings): Facts {
  const {baseUrl, key} = settings;
  if (baseUrl?.kind === 'embedded') {
    return {
      profile: settings.profileName,
      baseUrl: 'embedded',
      key: {masked: '********', source: 'embedded'},
    };
  }
  return {
    profile: settings.profileName,
    baseUrl: baseUrl?.url.href ?? null,
    key: key === undefined ? null : {masked: key.secret.masked(), source: key.source},
  };
}

function missing(
  facts: Facts,
  settings: Settings,
  {host}: Invocation,
): {report: WhoamiReport; status: ExitStatus} {
  const {message, hint} = missingSettings(settings, host);
  return {report: {...facts, status: 'missing', message, ...defined({hint})}, status: 4};
}

async function ask(
  facts: Facts,
  settings: Settings,
  invocation: Invocation,
  timeoutMs: number,
): Promise<{report: WhoamiReport; status: ExitStatus}> {
  const [{openSessionFor, within}, {verifyKey, whoOwnsKey}] = await Promise.all([
    import('../../cli/session.ts'),
    import('../../service/identity.ts'),
  ]);
  const session = await openSessionFor(settings, invocation);
  try {
    const {client} = session;
    const verdict = await within(invocation, timeoutMs, signal => verifyKey(client, signal));
    const identity =
      verdict.status === 'accepted'
        ? await within(invocation, timeoutMs, signal => whoOwnsKey(client, signal))
        : undefined;
    const hint = hintFor(verdict, settings, invocation);
    const report = {
      ...facts,
      ...verdictFields(verdict),
      ...defined({
        hint,
        profileUrl: verdict.status === 'rejected' ? settings.profileUrl : undefined,
        identity,
      }),
    };
    return {report, status: statusOf(verdict)};
  } finally {
    await session.close();
  }
}

/** The hint does not repeat the page with the keys, which has its own line in the report. */
function hintFor(verdict: KeyVerdict, settings: Settings, {host}: Invocation): string | undefined {
  const {profileUrl, ...facts} = keyFacts(settings);
  if (verdict.status === 'rejected') return refusedKeyHint(facts, host);
  if (verdict.status === 'unreachable') return verdict.error.hint;
  return verdict.status === 'accepted' ? undefined : `To find out why: media doctor${facts.hintOptions}`;
}

function verdictFields(verdict: KeyVerdict): Pick<WhoamiReport, 'status' | 'httpStatus' | 'message'> {
  if (verdict.status === 'unreachable') return {status: 'unreachable', message: verdict.error.message};
  if (verdict.status === 'accepted') return {status: 'accepted'};
  const {status, httpStatus, message} = verdict;
  return {status, ...defined({httpStatus, message})};
}

function statusOf(verdict: KeyVerdict): ExitStatus {
  switch (verdict.status) {
    case 'accepted':
      return 0;
    case 'rejected':
    case 'denied':
      return 4;
    case 'unreachable':
      return exitStatusOf[verdict.error.code];
    case 'unclear':
      return 1;
  }
}

const verdictTexts: Record<WhoamiReport['status'], string> = {
  accepted: 'accepted',
  rejected: 'rejected: the service does not know the key',
  denied: 'refused: the key lacks permission, or the base URL is wrong',
  unreachable: 'unreachable',
  unclear: 'unclear',
  missing: 'missing',
};

const sourceTexts = {
  environment: 'from MEDIA_API_KEY',
  profile: 'stored in the profile',
  keychain: 'from the keychain',
  command: 'from key-command',
  embedded: 'made for this run',
};

function reportText(report: WhoamiReport): string {
  const {identity} = report;
  const status = `${verdictTexts[report.status]}${report.httpStatus === undefined ? '' : ` (${report.httpStatus})`}`;
  const rows: [string, string | undefined][] = [
    ['profile', report.profile],
    ['base URL', report.baseUrl ?? 'none'],
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
