import {expect} from 'vitest';
import {type Sandbox, sandbox} from '../../support/media.ts';

/** The key that the program is given. */
export const testKey = 'key-of-the-test-1234';

/** A sandbox whose environment names a service and a key for it. */
export async function sandboxFor(url: string, env: Record<string, string> = {}): Promise<Sandbox> {
  return sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: testKey, ...env});
}

/** The `error` of one line on standard error under --json. */
export interface ErrorLine {
  file?: string;
  code: string;
  message: string;
  status?: number;
  serviceCode?: number;
  hint?: string;
}

/** Every line of standard error as it is under --json: error lines and nothing else. */
export function errorLines(stderr: string): ErrorLine[] {
  return stderr
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line).error);
}

/** How a failed upload of one file ends, seen in both ways of telling. */
export interface FailedUpload<Server> {
  exitCode: number | undefined;
  error: ErrorLine;
  /** The server of the run that tells in words, and that of the run with --json. */
  servers: [Server, Server];
}

/**
 * Uploads one file twice, each time to a new server: once told in words, once with --json. Expects nothing on
 * standard output, and the same sentence, hint and exit status from both. HOST stands for the server's host and port.
 */
export async function failedUpload<Server extends {url: string}>(
  startServer: () => Promise<Server>,
  file: string,
  parameters: string[] = [],
): Promise<FailedUpload<Server>> {
  const run = async (format: string[]) => {
    const server = await startServer();
    const {host} = new URL(server.url);
    const machine = await sandboxFor(server.url);
    const command = ['upload', file, '--retries', '0', ...parameters, ...format];
    const {stdout, stderr, exitCode} = await machine.run(command);
    return {stdout, stderr: stderr.replaceAll(host, 'HOST'), exitCode, server};
  };
  const [words, json] = await Promise.all([run([]), run(['--json'])]);
  const errors = errorLines(json.stderr);
  expect(errors).toHaveLength(1);
  const error = errors[0] as ErrorLine;
  expect({stdout: words.stdout, stderr: words.stderr}).toEqual({
    stdout: '',
    stderr: `media: ${error.message}\n${error.hint === undefined ? '' : `  ${error.hint}\n`}`,
  });
  expect({stdout: json.stdout, exitCode: json.exitCode}).toEqual({stdout: '', exitCode: words.exitCode});
  delete error.file;
  return {exitCode: words.exitCode, error, servers: [words.server, json.server]};
}
