import {readdir} from 'node:fs/promises';
import {expect, it} from 'vitest';
import {fixture, sandbox} from '../../support/media.ts';
import {serve} from '../../support/served.ts';

const photo = fixture('photo.png');

/** Tests the ends of a service that keeps nothing. */
export function testEphemeral(...signals: ('SIGTERM' | 'SIGINT' | 'SIGHUP')[]): void {
  it.each(signals)('--ephemeral, %s: ends by that signal and leaves nothing', async signal => {
    const box = await sandbox();
    const {child, env} = await serve(box, '--ephemeral', '--quiet');
    expect(await box.run(['upload', photo], {env})).toMatchObject({exitCode: 0});
    expect((await readdir(box.directory)).filter(name => name.startsWith('media-serve-'))).toHaveLength(1);
    child.kill(signal);
    expect(await child).toMatchObject({signal, stderr: ''});
    expect(await readdir(box.directory)).toEqual([]);
  });
}
