import {expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {sinkServer, writeSparsePng} from '../../../engine/service/support.ts';
import {needNode, temporaryDirectory} from '../../../support/media.ts';
import {memoryIn, tellMemory} from '../../../support/memory.ts';
import {slowTest} from '../../../support/patience.ts';

const gibibyte = 1024 ** 3;

test('1 GiB: every byte is sent, in less than 150 MiB of memory', slowTest, async context => {
  needNode(context);
  const sink = await sinkServer();
  const path = await writeSparsePng(await temporaryDirectory(), 'big.png', gibibyte);
  const machine = await sandboxFor(sink.url, {NODE_OPTIONS: tellMemory});
  const {stdout, stderr, exitCode} = await machine.run(['upload', path, '--template', '{id}\\n'], slowTest);
  expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
  expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual([gibibyte]);
  expect(memoryIn(stderr)).toBeGreaterThan(10 * 2 ** 20);
  expect(memoryIn(stderr)).toBeLessThan(150 * 2 ** 20);
});
