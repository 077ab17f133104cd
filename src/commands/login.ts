import {Command} from 'commander';
import {exitStatusOf, MediaError} from '../errors.ts';
import type {Secret} from '../secret.ts';
import type {KeyVerdict} from '../service/identity.ts';
import type {Profile} from '../settings/store.ts';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from './cli.ts';

export interface LoginOptions {
  keyStdin?: boolean;
  /** False after --no-verify. */
  verify: boolean;
}

/** Declares `media login`. */
export function loginCommand(cli: Cli, run = runLogin): Command {
  return new Command('login')
    .description('Store the API key of a service, after checking it.')
    .option('--key-stdin', 'read the key from standard input')
    .option('--no-verify', 'store the key without asking the service')
    .addHelpText(
      'after',
      examples([
        'media login --base-url https://api.example.com',
        'pass show media/key | media login --base-url https://api.example.com --key-stdin',
        'media login --profile staging --base-url https://staging.example.com',
      ]),
    )
    .action(async (options: LoginOptions, command: Command) => {
      cli.status = await run(options, invocationOf(cli, command));
    });
}

const verifyTimeoutMs = 30_000;

/** Asks for what is missing, checks the key with the service and stores it for the base URL's origin. */
export async function runLogin(options: LoginOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, report} = invocation;
  if (!options.keyStdin && !isInteractive(invocation)) throw notInteractive();
  const {parseKey, resolveSettings} = await import('../settings/settings.ts');
  const settings = await resolveSettings(host, invocation.globals);
  if (settings.baseUrl?.kind === 'embedded') {
    throw new MediaError('usage', 'The embedded service needs no login.', {
      hint: 'Upload with: media upload photo.png --base-url embedded',
    });
  }
  const baseUrl = settings.baseUrl?.url ?? (await askBaseUrl(invocation));
  const key = options.keyStdin
    ? parseKey(await readAll(invocation), 'The key on standard input')
    : await askKey(invocation, baseUrl);
  const verdict = options.verify ? await verify(invocation, baseUrl, key, settings) : undefined;
  if (verdict !== undefined) refuseUnusable(verdict, baseUrl);
  const {updateProfiles, configPath} = await import('../settings/store.ts');
  await updateProfiles(host, profiles => {
    profiles[settings.profileName] = withKey(profiles[settings.profileName] ?? {}, baseUrl, key, verdict);
  });
  if (verdict?.status === 'denied') {
    report.warning(
      `${baseUrl.host} answered ${verdict.httpStatus} to the check: this may be a key for uploads only, or the base URL may be wrong.`,
    );
  }
  report.note(
    `The key for ${baseUrl.origin} is stored in ${configPath(host)} (profile ${settings.profileName}).`,
  );
  return 0;
}

function isInteractive({host}: Invocation): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true;
}

function notInteractive(): MediaError {
  return new MediaError('usage', 'There is no terminal to ask for the key on.', {
    hint: 'Pipe the key in with --key-stdin, or set MEDIA_API_KEY and do without login.',
  });
}

async function askBaseUrl(invocation: Invocation): Promise<URL> {
  if (!isInteractive(invocation)) {
    throw new MediaError('usage', 'No base URL is set.', {
      hint: 'Name the service: media login --base-url URL --key-stdin',
    });
  }
  const [{askText}, {parseServiceUrl}] = await Promise.all([
    import('./prompt.ts'),
    import('../settings/settings.ts'),
  ]);
  const parse = (value: string) =>
    parseServiceUrl(value.trim(), 'base URL', invocation.globals.allowHttp === true);
  return parse(await askText(invocation, 'Base URL of the service', parse));
}

async function askKey(invocation: Invocation, baseUrl: URL): Promise<Secret> {
  const [{askSecret}, {parseKey}] = await Promise.all([
    import('./prompt.ts'),
    import('../settings/settings.ts'),
  ]);
  const parse = (value: string) => parseKey(value, 'The key');
  return parse(await askSecret(invocation, `API key for ${baseUrl.origin}`, parse));
}

const longestKey = 64 * 1024;

async function readAll({host}: Invocation): Promise<string> {
  let text = '';
  for await (const chunk of host.stdin) {
    text += String(chunk);
    if (text.length > longestKey) throw new MediaError('usage', 'Standard input is too long to be a key.');
  }
  return text;
}

async function verify(
  invocation: Invocation,
  baseUrl: URL,
  key: Secret,
  settings: {graphqlUrl?: URL; certificateAuthorities?: string},
): Promise<KeyVerdict> {
  const [{newClient, within}, {verifyKey}] = await Promise.all([
    import('./session.ts'),
    import('../service/identity.ts'),
  ]);
  const client = newClient(
    invocation,
    {baseUrl, ...(settings.graphqlUrl === undefined ? {} : {graphqlUrl: settings.graphqlUrl})},
    key,
    settings,
  );
  const {signal, cancel} = within(invocation, verifyTimeoutMs);
  try {
    return await verifyKey(client, signal);
  } finally {
    cancel();
    await client.close();
  }
}

/** A key that the service rejects, or that could not be checked, is not stored. */
function refuseUnusable(verdict: KeyVerdict, baseUrl: URL): void {
  const storeAnyway = 'Nothing was stored. To store the key unchecked, add --no-verify.';
  if (verdict.status === 'rejected') {
    throw new MediaError(
      'unauthorized',
      `${baseUrl.host} does not know this API key (401)${verdict.message ? `: ${verdict.message}` : ''}.`,
      {
        status: 401,
        hint: 'Nothing was stored. Copy the key again from the profile page of the service.',
      },
    );
  }
  if (verdict.status === 'unreachable') {
    const {code, message} = verdict.error;
    throw new MediaError(code, message, {
      cause: verdict.error,
      hint: exitStatusOf[code] === 6 ? storeAnyway : (verdict.error.hint ?? storeAnyway),
    });
  }
  if (verdict.status === 'unclear') {
    throw new MediaError(
      'unexpected_answer',
      `${baseUrl.host} could not check the key: ${verdict.message}.`,
      {
        ...(verdict.httpStatus === undefined ? {} : {status: verdict.httpStatus}),
        hint: storeAnyway,
      },
    );
  }
}

function withKey(profile: Profile, baseUrl: URL, key: Secret, verdict: KeyVerdict | undefined): Profile {
  const sameOrigin = profile['key-origin'] === baseUrl.origin;
  const {'idempotency-keys': known, 'graphql-url': graphqlUrl, ...kept} = profile;
  const honoured =
    verdict?.status === 'accepted' ? verdict.honoursIdempotencyKeys : sameOrigin && known === 'honoured';
  return {
    ...kept,
    'base-url': baseUrl.href.replace(/\/+$/, ''),
    key: key.reveal(),
    'key-origin': baseUrl.origin,
    ...(honoured ? {'idempotency-keys': 'honoured'} : {}),
    ...(sameOrigin && graphqlUrl !== undefined ? {'graphql-url': graphqlUrl} : {}),
  };
}
