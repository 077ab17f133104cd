import {describe, expect, test} from 'vitest';
import {abandoned, leavesPipesBlocking, uploading} from '../blocking-pipes.ts';
import {ending, stopsAnUpload, unanswered, untilSecondCounts} from '../stopped-uploads.ts';

const signals = ['SIGTERM', 'SIGHUP'] as const;

describe.each(signals)('%s', stopsAnUpload);

test('SIGINT twice: a file that has failed before is told', async () => {
  const {upload} = await unanswered(['gone.png', '--concurrency', '1']);
  upload.kill('SIGINT');
  await untilSecondCounts(upload.pid);
  upload.kill('SIGINT');
  const {stderr, signal} = await upload;
  expect(stderr).toContain('media: gone.png does not exist.\n');
  expect(signal).toBe('SIGINT');
});

test('SIGINT after the last byte, and no response within the grace: the outcome is unknown', async () => {
  const {upload, host} = await unanswered();
  upload.kill('SIGINT');
  const {stdout, stderr, signal} = await upload;
  expect({stdout, signal}).toEqual({stdout: '', signal: 'SIGINT'});
  expect(stderr.slice(ending.length)).toMatch(
    /^media: The run was stopped by SIGINT\. The whole file had been sent, so it may or may not be stored\.\n/,
  );
  expect(stderr).not.toContain(host);
});

describe('the pipes that the next program of a shell has too, after a signal', () => {
  describe.each(signals)('%s', leavesPipesBlocking);

  test('they were non-blocking before: they still are', async () => {
    const opener = `new (require('net').Socket)({fd: 1}); process.kill(process.pid, 'SIGKILL')`;
    const before = `'${process.execPath}' -e "${opener}"`;
    expect(await abandoned(await uploading(before), 'SIGTERM')).toEqual([false, true, true]);
  });
});
