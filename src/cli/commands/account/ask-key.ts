import {Writable} from 'node:stream';
import {parseKey, parseServiceUrl, withScheme} from '../../../engine/service/service-url.ts';
import {MediaError, throwAs, unlessBug} from '../../../errors.ts';
import {textOf} from '../../../lib/files/read-text.ts';
import {printable} from '../../../lib/printable.ts';
import type {Secret} from '../../../lib/secrets/secret.ts';
import {commandLine} from '../../hints/command-line.ts';
import type {Invocation} from '../../session/invocation.ts';
import {hintOptions} from '../../settings/hint-options.ts';

/** Throws a usage error if there is no terminal to ask for the key on. */
export function requireTerminal(invocation: Invocation): void {
  if (hasTerminal(invocation)) return;
  throw new MediaError('usage', 'There is no terminal to ask for the key.', {
    hint: `Set MEDIA_API_KEY instead of logging in, or pipe the key in: media login --key-stdin${hintOptions(invocation)}`,
  });
}

/** Whether a person can be asked: questions are written to standard error, and read from standard input. */
function hasTerminal({host}: Invocation): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true;
}

/** Asks for the base URL; a usage error without a terminal. */
export async function askBaseUrl(invocation: Invocation): Promise<URL> {
  if (!hasTerminal(invocation))
    throw new MediaError('usage', 'No base URL is set.', {
      hint: `Set the service: media login --key-stdin --base-url URL${hintOptions(invocation)}`,
    });
  const parse = (value: string) =>
    parseServiceUrl(withScheme(value.trim()), 'base URL', invocation.globals.allowHttp);
  return ask('text', invocation, 'Base URL of the service', parse);
}

/** Asks for the key of a service; `profileUrl` is the page that shows it. */
export async function askKey(invocation: Invocation, baseUrl: URL, profileUrl?: string): Promise<Secret> {
  const parse = (value: string) => parseKey(value, 'The key');
  const page = profileUrl === undefined ? '' : `, from ${profileUrl}`;
  return ask('password', invocation, `API key for ${baseUrl.origin}${page}`, parse);
}

/** In bytes: far more than any key has, and little for a device or a file that was piped in by mistake. */
const longestKey = 64 * 1024;

/** The key on standard input; a usage error if that cannot be read, is too long, or is not a key. */
export async function readKey({host}: Invocation): Promise<Secret> {
  const text = await textOf(host.stdin, longestKey, new Error('it is too long to be a key')).catch(
    throwAs('usage', 'Standard input could not be read'),
  );
  return parseKey(text, 'The key on standard input');
}

/** Asks for a line on the terminal until `parse` accepts it; a password is not shown. Rejects at Ctrl-D. */
async function ask<Value>(
  kind: 'text' | 'password',
  {host, abandon}: Invocation,
  message: string,
  parse: (text: string) => Value,
): Promise<Value> {
  const {createInterface} = await import('node:readline');
  const {stdin: input, stderr} = host;
  const isShown = kind === 'text';
  // readline writes what is typed, and the prompt, to its output: to nowhere for a password.
  const nowhere = new Writable({write: (_chunk, _encoding, done) => done()});
  const lines = createInterface({input, output: isShown ? stderr : nowhere, terminal: true, historySize: 0});
  const writeUnlessShown = (text: string) => isShown || stderr.write(text);
  const prompt = `${message}${isShown ? '' : ' (not shown)'}: `;
  lines.setPrompt(prompt);
  const show = () => {
    writeUnlessShown(prompt);
    lines.prompt(true);
  };
  const line = new Promise<Value | undefined>(resolve => {
    lines.on('line', text => {
      writeUnlessShown('\n');
      try {
        return resolve(parse(text));
      } catch (error) {
        const {message: reason, hint = ''} = unlessBug(error).inWordsOf(commandLine());
        stderr.write(`${printable(`${reason} ${hint}`.trim())}\n`);
      }
      show();
    });
    lines.on('SIGINT', () => abandon('SIGINT'));
    lines.on('SIGTSTP', () => {
      host.suspend();
      show();
    });
    for (const end of ['close', 'error']) lines.on(end, () => resolve(undefined));
  });
  show();
  const reply = await line;
  lines.close();
  if (reply !== undefined) return reply;
  stderr.write('\n');
  throw new MediaError('interrupted', 'The login was cancelled.', {hint: 'Nothing was stored.'});
}
