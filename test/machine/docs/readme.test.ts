import {describe, expect, it} from 'vitest';
import {examplesIn, markdown} from '../../support/examples.ts';
import type {Sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {onTerminal} from '../../support/terminal.ts';
import {newcomersMachine, typeIn} from './newcomer.ts';

const blocks = examplesIn('README.md').map(({code}) => code);
const login = 'media login --base-url https://api.example.com\n';

describe('the README', () => {
  it('can be read in five minutes: at most 160 lines', () => {
    expect(markdown('README.md').split('\n').length).toBeLessThanOrEqual(160);
  });

  it('begins with how to install, upload, try and test it, on a screen and a half', () => {
    const [install, upload, ...next] = blocks;
    expect(install).toBe('npm install --global .\n');
    expect(upload).toMatch(/^media upload photo\.png .*\n.* \| jq -r \.fileUrl\n$/);
    expect(next.slice(0, 2)).toEqual(['npm run demo\n', 'npm test\n']);
    expect(markdown('README.md').split('npm test')[0]?.split('\n').length).toBeLessThanOrEqual(36);
  });
});

/** Those of npm: test/machine/docs/readme-npm.test.ts. */
describe('every example in the README', () => {
  it('runs as printed: all others, one after the other, the login on a terminal', slowTest, async () => {
    const machine = await newcomersMachine();
    const others = blocks.filter(code => !/^(npm|sha256sum) /.test(code));
    expect(others).toContain(login);
    expect(others.join('')).toContain('| jq -r .id');
    for (const code of others) {
      if (code === login) {
        await logIn(machine);
        continue;
      }
      const printed = await typeIn(machine, code);
      if (code.includes('.fileUrl')) expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\S+$/m);
      if (code.includes('| jq -r .id')) expect(printed).toMatch(/^m_[A-Za-z0-9_-]+$/m);
    }
  });
});

/** Types the command, and the key when it is asked for. */
async function logIn(machine: Sandbox): Promise<void> {
  const [, ...parameters] = login.trim().split(' ');
  const terminal = onTerminal(machine, parameters);
  await terminal.shows('API key');
  terminal.write(`${machine.env['KEY']}\r`);
  expect({...(await terminal.end), output: terminal.output()}).toMatchObject({exitCode: 0});
}
