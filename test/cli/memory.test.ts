import {expect, test} from 'vitest';
import {sandboxFor} from '../service/program.ts';
import {sinkServer, writeSparsePng} from '../service/support.ts';
import {temporaryDirectory} from '../support/media.ts';

const gibibyte = 1024 ** 3;

/** Has the program tell its greatest resident set, in KiB, on standard error as it ends. */
const tellMemory = `--import=data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process._rawDebug('memory', process.resourceUsage().maxRSS))",
)}`;

test('3 GiB: every byte is sent, in less than 150 MiB of memory', {timeout: 120_000}, async () => {
  const sink = await sinkServer();
  const path = await writeSparsePng(await temporaryDirectory(), 'big.png', 3 * gibibyte);
  const machine = await sandboxFor(sink.url, {NODE_OPTIONS: tellMemory});
  const {stdout, stderr, exitCode} = await machine.run(['upload', path, '--format', 'id'], {
    timeout: 110_000,
  });
  expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
  expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual([3 * gibibyte]);
  const kibibytes = Number(/^memory (\d+)$/m.exec(stderr)?.[1]);
  expect(kibibytes).toBeGreaterThan(10_000);
  expect(kibibytes).toBeLessThan(150 * 1024);
});
