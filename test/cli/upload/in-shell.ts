import {execa} from 'execa';
import {sandboxFor} from '../../engine/service/program.ts';
import {mediaCommand, type Sandbox} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';
import {type Script, scriptedServer, someRecord} from '../../support/scripted-server.ts';

/** What a service does that answers with these statuses, one after another. */
export function answers(...statuses: number[]): Script[] {
  return statuses.map(status => async connection => {
    await connection.request();
    connection.answer(status, status === 200 ? someRecord : '{"code":1,"message":"no"}');
  });
}

/** A machine, and the requests of a service that takes each upload. */
export async function counting() {
  const {url, requests} = await scriptedServer(...answers(200));
  return {machine: await sandboxFor(url), requests};
}

/** Runs `media` as "$@" of a shell script. */
export function inShell(script: string, machine: Sandbox, parameters: string[]) {
  return execa('sh', ['-c', script, 'sh', ...mediaCommand, ...parameters], {
    cwd: machine.directory,
    env: machine.env,
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    timeout: patienceMs,
  });
}
