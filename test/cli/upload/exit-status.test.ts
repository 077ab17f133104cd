import {readdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {describe, expect, test} from 'vitest';
import {refuseEmptyRun, Tally} from '../../../src/cli/commands/upload/tally.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {type ErrorCode, exitStatusOf, MediaError} from '../../../src/errors.ts';
import {sandboxFor} from '../../engine/service/program.ts';
import {deadUrl, mebibyte, sinkServer, unbufferable, writeSparsePng} from '../../engine/service/support.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {fixture, needNode, sandbox, temporaryDirectory} from '../../support/media.ts';
import {outcomeOf} from '../../support/outcomes.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {answers, inShell} from './in-shell.ts';

const photo = fixture('photo.png');
const jpg = fixture('photo.jpg');
const gif = fixture('photo.gif');

describe('exitStatus', () => {
  const stored = {record: {id: 'x'}, json: '{"id":"x"}'};
  const outcome = (
    what: 'uploaded' | 'skipped' | 'mismatched' | 'checked' | 'unknown' | ErrorCode,
  ): Outcome => {
    if (what === 'uploaded' || what === 'skipped') return outcomeOf({status: what, ...stored});
    if (what === 'mismatched')
      return outcomeOf({status: what, ...stored, error: new MediaError('record_mismatch', 'It differs.')});
    if (what === 'checked') return outcomeOf({status: 'checked'});
    if (what === 'unknown')
      return outcomeOf({status: 'unknown', error: new MediaError('outcome_unknown', 'Unknown.')});
    return outcomeOf({status: 'failed', error: new MediaError(what, 'Failed.')});
  };

  test.each<[Parameters<typeof outcome>[0][], number]>([
    [[], 0],
    [['uploaded'], 0],
    [['uploaded', 'checked'], 0],
    [['rejected'], 1],
    [['file_missing', 'rejected', 'source_changed'], 1],
    [['uploaded', 'rejected'], 3],
    [['checked', 'file_missing'], 3],
    [['skipped', 'rejected'], 3],
    [['mismatched'], 1],
    [['skipped', 'mismatched'], 3],
    [['connection_refused'], 6],
    [['connection_refused', 'rejected'], 6],
    [['uploaded', 'connection_refused'], 3],
    [['unauthorized'], 4],
    [['unauthorized', 'not_tried'], 4],
    [['uploaded', 'forbidden'], 4],
    [['connection_refused', 'not_found'], 4],
    [['unknown'], 5],
    [['unknown', 'unauthorized'], 5],
    [['uploaded', 'unknown', 'connection_refused', 'rejected'], 5],
    [['internal', 'unknown', 'unauthorized', 'uploaded'], 7],
  ])('%j: %i', (outcomes, status) => {
    for (const ordered of [outcomes, outcomes.toReversed()]) {
      const tally = new Tally();
      for (const what of ordered) tally.add(outcome(what));
      expect(tally.exitStatus()).toBe(status);
    }
  });

  const unrecorded = new MediaError('journal_failed', 'The journal could not record it.');
  const noUrl = new MediaError('no_url', 'It was stored without a URL.');

  test.each<[string, {unrecorded?: MediaError; noUrl?: MediaError}[], ErrorCode[], number, string]>([
    [
      'not recorded',
      [{unrecorded}],
      [],
      1,
      '1 uploaded, 0 skipped, 0 failed, 0 unknown, 1 not in the journal',
    ],
    [
      'one of two not recorded, one refused',
      [{unrecorded}, {}],
      ['rejected'],
      3,
      '2 uploaded, 0 skipped, 1 failed, 0 unknown, 1 not in the journal',
    ],
    ['without a URL', [{noUrl}], [], 1, '1 uploaded, 0 skipped, 0 failed, 0 unknown, 1 without a URL'],
    [
      'all without a URL, one refused',
      [{noUrl}, {noUrl}],
      ['rejected'],
      1,
      '2 uploaded, 0 skipped, 1 failed, 0 unknown, 2 without a URL',
    ],
    [
      'one of two without a URL',
      [{noUrl}, {}],
      [],
      3,
      '2 uploaded, 0 skipped, 0 failed, 0 unknown, 1 without a URL',
    ],
    ['as it should be', [{}], [], 0, '1 uploaded, 0 skipped, 0 failed, 0 unknown'],
  ])('what is stored, %s', (_what, uploads, failures, status, summary) => {
    const tally = new Tally();
    for (const {noUrl, ...facts} of uploads)
      tally.add(outcomeOf({status: 'uploaded', ...stored, ...facts}), noUrl);
    for (const code of failures) tally.add(outcome(code));
    expect([tally.exitStatus(), tally.summary(), tally.isAnyStored]).toEqual([status, summary, true]);
  });

  test('a dry run: the sums by type, from most to fewest bytes, and nothing counts as stored', () => {
    expect(new Tally().isAnyStored).toBe(false);
    const tally = new Tally({dryRun: true});
    const files = [
      {contentType: 'image/png', size: 1024},
      {contentType: 'video/mp4', size: 4096},
      {contentType: 'image/png', size: 1024, geotags: 'stripped'},
      {contentType: 'image/gif', size: 512, geotags: 'present'},
    ] as const;
    for (const file of files) tally.add(outcomeOf({status: 'checked', ...file}));
    tally.add(outcome('skipped'));
    expect(tally.sums()).toEqual([
      'Nothing was sent. To upload: 4 files, 6.5 KiB.',
      '  video/mp4: 1 file, 4.0 KiB',
      '  image/png: 2 files, 2.0 KiB',
      '  image/gif: 1 file, 512 B',
      '  without their location: 1 file, 1.0 KiB',
    ]);
    expect(tally.summary()).toBe('4 will be uploaded, 1 uploaded before, 0 failed');
    tally.add(outcome('unknown'));
    expect(tally.summary()).toBe('4 will be uploaded, 1 uploaded before, 1 unknown, 0 failed');
    expect([tally.isAnyStored, tally.outputHint]).toEqual([false, undefined]);
  });

  test.each([
    [0, 0, {}, false],
    [0, 1, {}, true],
    [1, 1, {}, false],
    [0, 1, {shard: '1/2'}, false],
    [0, 1, {prune: true}, false],
  ] as const)(
    '%i sent and %i left out with %j: refused as empty: %s',
    (sent, leftOut, options, isRefused) => {
      const tally = new Tally();
      const position = 0;
      for (let one = 0; one < sent; one += 1) tally.add(outcome('uploaded'));
      for (let one = 0; one < leftOut; one += 1)
        tally.add({status: 'left out', file: '.a', position, isHidden: true});
      expect(tally.summary()).toContain(leftOut === 0 ? ' unknown' : '1 left out: not media or hidden');
      const refusal = () =>
        refuseEmptyRun(tally, {inputs: ['.'], types: 'extension', retries: 0, ...options});
      if (isRefused) expect(refusal).toThrow(expect.objectContaining({code: 'nothing_matched'}));
      else expect(refusal).not.toThrow();
    },
  );

  test('every code leads to a status of the contract', () => {
    expect(new Set(Object.values(exitStatusOf))).toEqual(new Set([1, 2, 4, 5, 6, 7]));
  });
});

describe('a process ends with', () => {
  test('0: one file uploaded', async () => {
    const {url} = await scriptedServer(...answers(200));
    expect(await (await sandboxFor(url)).start(['upload', photo])).toMatchObject({exitCode: 0, stderr: ''});
  });

  test('1: the only file refused', async () => {
    const {url} = await scriptedServer(...answers(415));
    expect(await (await sandboxFor(url)).run(['upload', photo])).toMatchObject({exitCode: 1, stdout: ''});
  });

  test.each([
    [['upload']],
    [['upload', photo, '--retries', 'many']],
    [['upload', photo, '--no-such-flag']],
    [['nonsense']],
  ])('2: %j', async parameters => {
    const {exitCode, stdout} = await (await sandbox()).run(parameters);
    expect({exitCode, stdout}).toEqual({exitCode: 2, stdout: ''});
  });

  test('3: one uploaded, one refused', async () => {
    const {url} = await scriptedServer(...answers(200, 415));
    expect(await (await sandboxFor(url)).run(['upload', '-c', '1', photo, jpg])).toMatchObject({
      exitCode: 3,
    });
  });

  test('3: one missing, one uploaded', async () => {
    const {url} = await scriptedServer(...answers(200));
    expect(await (await sandboxFor(url)).run(['upload', 'missing.png', photo])).toMatchObject({
      exitCode: 3,
    });
  });

  test('4: nothing configured', async () => {
    expect(await (await sandbox()).run(['upload', photo])).toMatchObject({exitCode: 4, stdout: ''});
  });

  test('4: one uploaded, then 401', async () => {
    const {url} = await scriptedServer(...answers(200, 401));
    expect(await (await sandboxFor(url)).run(['upload', '-c', '1', photo, jpg, gif])).toMatchObject({
      exitCode: 4,
    });
  });

  test('5: one unknown, then 401', async () => {
    const {url} = await scriptedServer(...answers(500, 401));
    expect(await (await sandboxFor(url)).run(['upload', '-c', '1', photo, jpg])).toMatchObject({
      exitCode: 5,
    });
  });

  test('6: nothing listens', async () => {
    const {exitCode} = await (await sandboxFor(await deadUrl())).run(['upload', photo, '--retries', '0']);
    expect(exitCode).toBe(6);
  });

  test('7: a bug, told in one sentence without a stack', async context => {
    needNode(context);
    const broken = "Buffer.allocUnsafeSlow = () => { throw new TypeError('this.dice is undefined'); };";
    const {url} = await scriptedServer(...answers(200));
    const machine = await sandboxFor(url, {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(broken)}`,
    });
    const {stdout, stderr, exitCode} = await machine.start(['upload', photo]);
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: '',
      stderr:
        'media: Internal error: TypeError: this.dice is undefined\n  This is a bug in media; please report it with the command that caused it.\n',
      exitCode: 7,
    });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s: %i, as the shell sees it', async (signal, status) => {
    const path = await writeSparsePng(await temporaryDirectory(), 'big.png', unbufferable);
    const sink = await sinkServer({pauseAfter: mebibyte});
    const shell = inShell('"$@"; echo "status $?"', await sandboxFor(sink.url), ['upload', path]);
    await sink.paused;
    process.kill(childOf(shell.pid), signal);
    expect((await shell).stdout).toBe(`status ${status}\n`);
  });
});

/** The one child of a process. */
function childOf(pid: number | undefined): number {
  const children = readdirSync('/proc').filter(entry => /^\d+$/.test(entry) && parentOf(entry) === pid);
  expect(children).toHaveLength(1);
  return Number(children[0]);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

test('a service that accepts and closes at once: no hang, no crash', async () => {
  const server = createServer(socket => socket.end());
  await listen(server);
  const {exitCode, stdout} = await (await sandboxFor(urlOf(server))).start([
    'upload',
    photo,
    '--retries',
    '2',
  ]);
  expect(stdout).toBe('');
  // The end may be seen as the connection is made, just before the release or just after it.
  expect([6, 1, 5]).toContain(exitCode);
});
