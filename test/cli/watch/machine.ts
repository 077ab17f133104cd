import {copyFile, mkdir, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, waitingTest as test} from '../../support/after-test.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';

/** A machine with a service, and a directory `in` to be watched. */
export async function machine() {
  const connected = await connectedSandbox();
  const path = (name: string) => join(connected.sandbox.directory, name);
  await mkdir(path('in/sub'), {recursive: true});
  return {...connected, box: connected.sandbox, path};
}

/** A command line that is refused: what is wrong, its words, the exit status and the reason. */
export type Refusal = [name: string, parameters: string[], exitCode: number, reason: RegExp];

/** Declares the test that such a command line ends at once. */
export function refusedAtOnce([name, parameters, exitCode, reason]: Refusal): void {
  test(`${name}: the reason at once`, async () => {
    const {box, path} = await machine();
    await copyFile(fixture('photo.png'), path('photo.png'));
    await symlink('in/sub', path('link'));
    await mkdir(path('back\\slash'));
    const changes = parameters.includes('none')
      ? {MEDIA_API_KEY: ''}
      : parameters.includes('1s') && {MEDIA_LIMIT_RATE: 'fast'};
    const env = {...box.env, ...changes};
    const {stdout, stderr, ...ended} = await box.run(['watch', ...parameters], {env});
    expect({stdout, exitCode: ended.exitCode}).toEqual({stdout: '', exitCode});
    expect(stderr).toMatch(reason);
  });
}
