import {spawnSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {limitedCommand} from '../../../../src/media/pixels/process-limits.ts';

test('a program that never ends: the system ends it after its processor time', () => {
  const [program, parameters] = limitedCommand([process.execPath, '-e', 'for (;;);'], {
    nodeThreads: 1,
    processorSeconds: 1,
  });
  const {signal} = spawnSync(program, parameters);
  // Linux sends the first of them before the limit's last second, and the second at its end.
  expect(['SIGXCPU', 'SIGKILL']).toContain(signal);
});
