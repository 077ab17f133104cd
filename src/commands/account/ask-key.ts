import type {Invocation} from '../../cli/invocation.ts';
import {failed, MediaError} from '../../errors.ts';
import type {TerminalOutput} from '../../host.ts';
import {textOf} from '../../lib/files/read-text.ts';
import type {Secret} from '../../lib/secrets/secret.ts';
import {hintOptions} from '../../settings/hint-options.ts';
import {parseKey, parseServiceUrl} from '../../settings/parse.ts';

/** Throws a usage error if there is no terminal to ask for the key on. */
export function requireTerminal(invocation: Invocation): void {
  if (isInteractive(invocation)) return;
  throw new MediaError('usage', 'There is no terminal to ask for the key.', {
    hint: `Set MEDIA_API_KEY instead of logging in, or pipe the key in: media login --key-stdin${hintOptions(invocation)}`,
  });
}

function isInteractive({host}: Invocation): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true;
}

/** Asks for the base URL; a usage error without a terminal. */
export async function askBaseUrl(invocation: Invocation): Promise<URL> {
  if (!isInteractive(invocation)) {
    throw new MediaError('usage', 'No base URL is set.', {
      hint: `Set the service: media login --key-stdin --base-url URL${hintOptions(invocation)}`,
    });
  }
  const parse = (value: string) =>
    parseServiceUrl(value.trim(), 'base URL', invocation.globals.allowHttp === true);
  return parse(await ask('text', invocation, 'Base URL of the service', parse));
}

/** Asks for the key of a service; `profileUrl` is the page that shows it. */
export async function askKey(invocation: Invocation, baseUrl: URL, profileUrl?: string): Promise<Secret> {
  const parse = (value: string) => parseKey(value, 'The key');
  const page = profileUrl === undefined ? '' : `, from ${profileUrl}`;
  return parse(await ask('password', invocation, `API key for ${baseUrl.origin}${page}`, parse));
}

const longestKey = 64 * 1024;

export async function readKey({host}: Invocation): Promise<Secret> {
  const text = await textOf(host.stdin, longestKey, new Error('it is too long to be a key')).catch(
    failed('usage', 'Standard input could not be read'),
  );
  return parseKey(text, 'The key on standard input');
}

/** Asks for a line on the terminal, through standard error; a password is not shown. Rejects with `interrupted` if cancelled. */
async function ask(
  kind: 'text' | 'password',
  {host}: Invocation,
  message: string,
  check: (value: string) => void,
): Promise<string> {
  const prompts = await import('@clack/prompts');
  const validate = (value: string | undefined) => complaint(value, check);
  const answer = await prompts[kind]({message, validate, input: host.stdin, output: withWidth(host.stderr)});
  // A symbol means that the prompt was cancelled.
  if (typeof answer !== 'string') throw new MediaError('interrupted', 'Nothing was stored.');
  return answer;
}

/** The terminal, with a usual width if it reports none: each character of a prompt would be on a line of its own. */
function withWidth(terminal: TerminalOutput): TerminalOutput {
  if (terminal.columns !== 0) return terminal;
  return new Proxy(terminal, {get: (target, name) => (name === 'columns' ? 80 : Reflect.get(target, name))});
}

function complaint(value: string | undefined, check: (value: string) => void): string | undefined {
  try {
    check(value ?? '');
    return undefined;
  } catch (error) {
    if (error instanceof MediaError) return [error.message, error.hint].filter(Boolean).join(' ');
    throw error;
  }
}
