import {chmod, chown, copyFile, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it, type TestContext} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {eventually} from '../../support/eventually.ts';
import {notRun} from '../../support/installed.ts';
import {fixture, type Sandbox} from '../../support/media.ts';
import {Watching} from '../../support/watching.ts';

/** A machine with a file `a.png`: how to upload, and how many files are stored. */
export async function machine() {
  const connected = await connectedSandbox();
  await copyFile(fixture('photo.png'), join(connected.sandbox.directory, 'a.png'));
  const {sandbox, service} = connected;
  const upload = async (...parameters: string[]) => {
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', '--ndjson', ...parameters]);
    const statuses = stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line).status);
    return {statuses, stderr, exitCode};
  };
  const stored = async () => (await service.records()).length;
  return {...connected, upload, stored};
}

/** The directory of the journals of this machine's own. */
export function journals({directory}: Sandbox): string {
  return join(directory, '.local/state/media/journals');
}

interface Hands {
  message: RegExp;
  change: (path: string, context: TestContext) => Promise<void>;
}

/** How a file or a directory gets into the hands of others, and what is said of it. */
export const inHandsOfOthers = {
  'that anybody may change': {
    message: /^Other users may change .*, so it is not trusted\.$/,
    change: path => chmod(path, 0o702),
  },
  'that another group may change': {
    message: /^Other users may change .*, so it is not trusted\.$/,
    change: async (path, context) => {
      await giveAway(path, process.getuid?.() ?? 0, context);
      await chmod(path, 0o720);
    },
  },
  'of another user, even for root': {
    message: / belongs to another user, so it is not trusted\.$/,
    change: (path, context) => giveAway(path, 65_534, context),
  },
} satisfies Record<string, Hands>;

function giveAway(path: string, user: number, context: TestContext): Promise<void> {
  return process.getuid?.() === 0
    ? chown(path, user, 65_534)
    : notRun(context, 'only root can give files away');
}

async function expectRefusal(
  message: RegExp,
  code: string,
  running: Promise<{stderr: string; exitCode?: number | undefined}>,
) {
  const {stderr, exitCode} = await running;
  expect([JSON.parse(stderr).error, exitCode]).toEqual([
    expect.objectContaining({code, message: expect.stringMatching(message)}),
    1,
  ]);
}

/** A part of a journal, with its path from the directory of the journals; without one, it is the file. */
type Part = readonly [name: string, path?: string];

/** Declares the tests that a journal of --once is refused when one of these parts of it is in such hands. */
export function refusedOfOnce({message, change}: Hands, parts: readonly Part[]): void {
  it.for(parts)('of --once (%s): refused, nothing printed, sent or deleted', async ([, part], context) => {
    const {sandbox, upload, stored} = await machine();
    await upload('--once', 'a.png');
    const [name = ''] = await readdir(journals(sandbox));
    await change(join(journals(sandbox), part ?? name), context);
    for (const more of [[], ['--dry-run']])
      await expectRefusal(message, 'state_unwritable', upload('--once', 'a.png', ...more));
    if (part === undefined)
      await expectRefusal(message, 'journal_unusable', sandbox.run(['journal', 'list', '--json']));
    const watching = new Watching(sandbox, ['.', '--delete', '--ndjson']);
    await eventually(() => / is not trusted\./.test(watching.stderr));
    watching.child.kill('SIGTERM');
    await watching.child;
    expect(await readdir(sandbox.directory)).toContain('a.png');
    expect((await upload('--no-once', 'a.png')).statuses).toEqual(['uploaded']);
    expect(await stored()).toBe(2);
  });
}

/** Declares the test that a journal of --journal in such hands is refused. */
export function refusedOfJournal({message, change}: Hands): void {
  it('of --journal: refused; it can be checked, and a copy be used', async context => {
    const {sandbox, upload, stored} = await machine();
    const file = join(sandbox.directory, 'j');
    await upload('--journal', 'j', 'a.png');
    await change(file, context);
    for (const more of [[], ['--dry-run']])
      await expectRefusal(message, 'journal_unusable', upload('--journal', 'j', 'a.png', ...more));
    expect(await sandbox.run(['journal', 'check', 'j', '--', 'a.png'])).toMatchObject({exitCode: 0});
    await writeFile(join(sandbox.directory, 'k'), await readFile(file));
    expect((await upload('--journal', 'k', 'a.png')).statuses).toEqual(['skipped']);
    expect(await stored()).toBe(1);
  });
}
