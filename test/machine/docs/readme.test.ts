import {describe, expect, it} from 'vitest';
import {examplesIn, markdown} from '../../support/examples.ts';
import type {Sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {onTerminal} from '../../support/terminal.ts';
import {newcomersMachine, typeIn} from './newcomer.ts';

const blocks = examplesIn('README.md').map(({code}) => code);
const login = 'media login --base-url https://api.example.com\n';

describe('the README', () => {
  it('can be read in four minutes: at most 800 words', () => {
    expect(markdown('README.md').split(/\s+/).length).toBeLessThanOrEqual(800);
  });

  it('begins with how to install, try, test and use it, on one screen; then each of its three users, and what to rely on', () => {
    expect(blocks.slice(0, 4)).toEqual([
      ...['npm install --global .\n', 'npm run demo\n', 'npm test\n'],
      'media upload photo.png --base-url embedded\n',
    ]);
    expect(markdown('README.md').split('media upload')[0]?.split('\n').length).toBeLessThanOrEqual(30);
    const headings = [...markdown('README.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings.slice(0, 4)).toEqual(['One photo', 'A pipeline', 'A script', 'What you can rely on']);
  });
});

/** Those of npm: test/machine/docs/readme-npm.test.ts. */
describe('every example in the README', () => {
  it('runs as printed: all others, one after the other, the login on a terminal', slowTest, async () => {
    const machine = await newcomersMachine();
    const others = blocks.filter(code => !/^(npm|sha256sum) /.test(code));
    expect(others).toContain(login);
    for (const code of others) {
      if (code === login) {
        await logIn(machine);
        continue;
      }
      const printed = await typeIn(machine, code);
      if (/jq -r '?\.(?:url|files)/.test(code)) expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\S+$/m);
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
