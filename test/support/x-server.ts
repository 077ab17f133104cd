import {once} from 'node:events';
import {execa} from 'execa';
import type {TestContext} from 'vitest';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {needPrograms} from './installed.ts';

/** An X server that shows nothing, for the current test, which is skipped if that or xclip is not installed. */
export async function xServer(context: TestContext) {
  needPrograms(context, ['Xvfb', 'xclip']);
  // It picks a display that is free, and prints it when it is ready.
  const server = execa('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '16x16x8'], {
    ...{stdin: 'ignore', stderr: 'ignore', reject: false, buffer: false},
  });
  afterTest(async () => {
    server.kill();
    await server;
  });
  let printed = '';
  server.stdout?.on('data', text => {
    printed += text;
  });
  while (!printed.endsWith('\n')) await once(server.stdout, 'data');
  const display = `:${printed.trim()}`;
  const xclip = (...parameters: string[]) =>
    execa('xclip', ['-selection', 'clipboard', ...parameters], {
      ...{env: {DISPLAY: display}, reject: false, stderr: 'ignore', stdin: 'ignore'},
    });
  return {
    display,
    /** Puts a file into the clipboard, in this format. */
    async copy(format: string, file: string) {
      // It goes on in the background, as the owner of the clipboard, and keeps its output open.
      await execa('xclip', ['-selection', 'clipboard', '-target', format, '-in', file], {
        ...{env: {DISPLAY: display}, stdio: 'ignore'},
      });
      const isThere = async () => (await xclip('-target', 'TARGETS', '-out')).stdout.includes(format);
      await eventually(isThere, {pauseMs: 50});
    },
  };
}
