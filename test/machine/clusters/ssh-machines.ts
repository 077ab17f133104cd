import {mkdir, writeFile} from 'node:fs/promises';
import {userInfo} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished, type TestContext} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {freePort} from '../../support/free-ports.ts';
import {notRun, type Program, pathOf} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, succeed} from './batch.ts';

/** There is another parallel, in moreutils, without sem beside it. */
export const sshPrograms: readonly Program[] = ['sshd', 'ssh', 'ssh-keygen', 'parallel', 'sem'];

/** Skips the test where nobody can log in to the account that it runs under. */
export function needLogin(context: TestContext): void {
  const {username, shell} = userInfo();
  if (/\/(nologin|false)$/.test(shell ?? '')) notRun(context, `${username} cannot log in here (${shell})`);
}

/**
 * Lets this machine be reached by ssh as n1 and as n2, for the current test, with keys made for it; resolves to the
 * command that knows how. Both have the settings of the batch, as if somebody had logged in there.
 */
export async function startMachines(batch: Batch): Promise<string> {
  const directory = join(batch.directory, 'ssh');
  await mkdir(directory);
  for (const name of ['host', 'user']) {
    await succeed(batch, ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(directory, name)]);
  }
  const port = await freePort();
  const server = join(directory, 'sshd_config');
  await writeFile(server, serverConfiguration(directory, port, batch.machine.env));
  const client = join(directory, 'ssh_config');
  await writeFile(client, clientConfiguration(directory, port));
  await startServer(batch, server);
  const ssh = `ssh -F ${client}`;
  await eventually(() =>
    succeed(batch, [...ssh.split(' '), 'n1', 'true']).then(
      () => true,
      () => false,
    ),
  );
  return ssh;
}

function serverConfiguration(directory: string, port: number, env: Record<string, string>): string {
  const settings = Object.entries(env).map(([name, value]) => `"${name}=${value}"`);
  return `Port ${port}
ListenAddress 127.0.0.1
HostKey ${directory}/host
AuthorizedKeysFile ${directory}/user.pub
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
PidFile none
MaxStartups 100
SetEnv ${settings.join(' ')}
`;
}

function clientConfiguration(directory: string, port: number): string {
  return `Host n1 n2
HostName 127.0.0.1
Port ${port}
User ${userInfo().username}
IdentityFile ${directory}/user
IdentitiesOnly yes
BatchMode yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
`;
}

/** sshd wants to be started by its full name; the directory that it changes to as root may not be there in a container. */
async function startServer(batch: Batch, configuration: string): Promise<void> {
  if (process.geteuid?.() === 0) await mkdir('/run/sshd', {recursive: true, mode: 0o755});
  const daemon = execa(pathOf('sshd') ?? 'sshd', ['-D', '-e', '-f', configuration], {
    ...batch.machine,
    ...slowTest,
  });
  onTestFinished(async () => {
    daemon.kill();
    await daemon;
  });
}
