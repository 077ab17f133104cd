import {spawnSync} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, it} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {needPrograms, notRun, pathOf} from '../../../support/installed.ts';
import {sha256} from '../../../support/journal.ts';
import {mediaCommand} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {RecordStore} from '../../../support/record-store.ts';

/** One system call: the lines of the trace at which it began and returned. */
interface Call {
  text: string;
  begin: number;
  end: number;
}

function callsIn(trace: string): Call[] {
  const calls: Call[] = [];
  const running = new Map<string, Call>();
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = running.get(thread);
    if (text.startsWith('<...') && resumed !== undefined) {
      resumed.end = at;
      continue;
    }
    const call = {text, begin: at, end: text.endsWith('<unfinished ...>') ? Number.POSITIVE_INFINITY : at};
    running.set(thread, call);
    calls.push(call);
  }
  return calls;
}

it('an upload with a journal, by system calls: each commit is durable before the last bytes of its file leave', async context => {
  needPrograms(context, ['strace']);
  const strace = pathOf('strace') ?? '';
  if (spawnSync(strace, ['-qq', '-o', '/dev/null', 'true']).status !== 0)
    notRun(context, 'strace may not trace processes here');
  const store = await RecordStore.start();
  const box = await sandboxFor(store.url);
  const files = Array.from({length: 12}, (_, at) => {
    const filling = ' '.repeat(at % 3 === 0 ? 300_000 : 100);
    return {
      name: `${at}.svg`,
      content: `<svg xmlns="http://www.w3.org/2000/svg">${filling}</svg><!--${at}.-->`,
    };
  });
  for (const {name, content} of files) await writeFile(join(box.directory, name), content);
  const traced = 'trace=openat,write,writev,sendto,sendmsg,fdatasync,fsync';
  const options = ['-f', '-y', '-qq', '-s', '1000000', '-e', traced, '-o', 'trace'];
  const command = [...mediaCommand, 'upload', '--journal', 'journal'];
  const {exitCode} = await execa(strace, [...options, ...command, ...files.map(({name}) => name)], {
    ...{cwd: box.directory, env: {...box.env, UV_USE_IO_URING: '0'}, extendEnv: false},
    ...{reject: false, stdin: 'ignore', timeout: patienceMs, killSignal: 'SIGKILL'},
  });
  expect(exitCode).toBe(0);

  const calls = callsIn(await readFile(join(box.directory, 'trace'), 'utf8'));
  const journal = `<${join(box.directory, 'journal')}>`;
  const syncsWrites = calls.some(({text}) => text.includes('O_DSYNC') && text.endsWith(journal));
  for (const {name, content} of files) {
    const last = calls.find(
      ({text}) => text.includes('<socket:') && text.includes(`<!--${name.slice(0, -4)}.-->`),
    );
    const commit = calls.find(
      ({text}) => text.startsWith('write') && text.includes(journal) && text.includes(sha256(content)),
    );
    const isSync = ({text}: Call) => /^f(data)?sync/.test(text) && text.includes(journal);
    const durable = syncsWrites
      ? commit
      : calls.find(call => isSync(call) && call.begin > (commit?.end ?? 0));
    expect({name, isDurableFirst: (durable?.end ?? Number.NaN) < (last?.begin ?? Number.NaN)}).toEqual({
      name,
      isDurableFirst: true,
    });
  }
});
