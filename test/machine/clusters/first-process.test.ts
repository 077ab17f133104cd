import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {needPrograms, notRun} from '../../support/installed.ts';
import {mediaCommand, sandbox} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';

// In a namespace of its own, as in a container: there the kernel keeps the first process from ending by its own signal.
const container = [
  '--pid',
  '--fork',
  '--kill-child',
  ...(process.geteuid?.() === 0 ? [] : ['--map-root-user']),
];

it.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  '%s to the first process of a container: ends with status %i',
  async ([signal, status], context) => {
    needPrograms(context, ['unshare']);
    const {failed} = await execa('unshare', [...container, 'true'], {reject: false});
    if (failed) notRun(context, 'a process namespace cannot be made here');
    const {directory: cwd, env} = await sandbox();
    const parameters = [...container, ...mediaCommand, 'serve', '--port', '0', '--ephemeral'];
    const outer = execa('unshare', parameters, {
      cwd,
      env,
      extendEnv: false,
      reject: false,
      timeout: patienceMs,
    });
    onTestFinished(() => void outer.kill('SIGKILL'));
    await once(outer.stdout, 'data');
    const children = await readFile(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8');
    process.kill(Number(children), signal);
    expect(await outer).toMatchObject({exitCode: status});
  },
);
