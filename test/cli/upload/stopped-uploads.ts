import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import {mebibyte, sinkServer, unbufferable, writeSparsePng} from '../../engine/service/support.ts';
import {eventually} from '../../support/eventually.ts';
import {fixture, temporaryDirectory} from '../../support/media.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../support/scripted-server.ts';

const photo = fixture('photo.png');
export const stopping = 'Stopping: waiting for responses to finished uploads.';
export const ending = `${stopping} Press Ctrl-C again to quit now.\n`;

/** Waits until the process has taken every signal and gone back to sleep. */
export async function untilTaken(pid: number | undefined): Promise<void> {
  let calm = 0;
  await eventually(() => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    calm = /^ShdPnd:\s*0+$/m.test(status) && /^State:\s*S/m.test(status) ? calm + 1 : 0;
    return calm > 5;
  });
}

/** Waits until the process has taken a signal, and so long that the next one does not count as its repetition. */
export async function untilSecondCounts(pid: number | undefined): Promise<void> {
  await untilTaken(pid);
  await new Promise(resolve => setTimeout(resolve, 110));
}

/** An upload whose last byte has been sent and which waits for its answer. */
export async function unanswered(parameters: string[] = []) {
  let connection: ScriptedConnection | undefined;
  const {url} = await scriptedServer(async arrived => {
    await arrived.request();
    connection = arrived;
  });
  const upload = (await sandboxFor(url)).start(['upload', ...parameters, photo]);
  return {upload, host: new URL(url).host, connection: await eventually(() => connection)};
}

/** Declares the tests of what an upload does upon this signal. */
export function stopsAnUpload(signal: NodeJS.Signals): void {
  test('while bytes are held back: the request is dropped, the last byte never sent', async () => {
    const path = await writeSparsePng(await temporaryDirectory(), 'big.png', unbufferable);
    const sink = await sinkServer({pauseAfter: mebibyte});
    const upload = (await sandboxFor(sink.url)).start(['upload', '-c', '1', path, photo]);
    await sink.paused;
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy, exitCode} = await upload;
    sink.resume();
    await eventually(() => sink.requests.every(({closed}) => closed));
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(unbufferable);
    expect({endedBy, exitCode}).toEqual({endedBy: signal, exitCode: undefined});
    expect(stderr).toContain(`The run was stopped by ${signal}.`);
    expect(stderr).toContain('0 uploaded, 0 skipped, 1 failed, 0 unknown');
    expect(stdout).not.toContain('m_1');
  });

  test('after the last byte: the response is waited for, its record printed, then it ends by the signal', async () => {
    const {upload, connection} = await unanswered(['--json', '--no-progress']);
    upload.kill(signal);
    await untilTaken(upload.pid);
    connection.answer(200, someRecord);
    const {stdout, stderr, signal: endedBy} = await upload;
    expect(stderr).toMatch(/^Stopping: waiting for responses to finished uploads\. .*\n$/);
    expect({stdout, endedBy}).toEqual({stdout: `${someRecord}\n`, endedBy: signal});
  });

  test('twice, after the last byte: ends at once by the signal', async () => {
    const {upload} = await unanswered();
    upload.kill(signal);
    await untilSecondCounts(upload.pid);
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy} = await upload;
    // Nothing is said of the outcome, since the wait for the answer was cut short.
    expect({stdout, stderr, endedBy}).toEqual({
      stdout: '',
      stderr: signal === 'SIGINT' ? ending : `${stopping} Send the signal again to quit now.\n`,
      endedBy: signal,
    });
  });
}
