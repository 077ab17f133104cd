import {readFile} from 'node:fs/promises';
import {eventually} from '../../../support/eventually.ts';
import {experiment} from '../../../support/experiment/experiment.ts';
import {pause} from '../../../support/experiment/fault-proxy.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

/** Uploads a file and stops the program for longer than its --timeout while the answer arrives. */
async function sleepThroughTheAnswer(): Promise<string> {
  const box = await sandbox();
  let answered = false;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    upload.kill('SIGSTOP');
    await eventually(async () => /^State:\s+T/m.test(await readFile(`/proc/${upload.pid}/status`, 'utf8')));
    connection.answer(200, someRecord);
    answered = true;
  });
  Object.assign(box.env, {MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_1'});
  const upload = box.start(['upload', fixture('photo.png'), '--timeout', '2s', '--json']);
  await eventually(() => answered);
  await pause(2_300);
  upload.kill('SIGCONT');
  const {stdout, stderr} = await upload;
  return stdout === `${someRecord}\n` ? '' : stderr;
}

experiment(
  'SIGSTOP for longer than --timeout, the response having arrived: uploaded',
  async ({scale}) => {
    const tried = scale === 'long' ? 50 : 2;
    const broken: string[] = [];
    for (let trial = 0; trial < tried; trial += 1) {
      const wrong = await sleepThroughTheAnswer();
      if (wrong !== '') broken.push(wrong);
    }
    return {tried, held: tried - broken.length, broken};
  },
  process.platform === 'linux' ? undefined : 'only Linux tells that a process is stopped',
);
