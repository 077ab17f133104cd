import {Socket} from 'node:net';
import {expect, test} from 'vitest';
import {refuseOtherUsers} from '../../src/commands/bridge/caller.ts';

test('a client that closed its connection before it was known whose it is: refused', async () => {
  await expect(refuseOtherUsers(new Socket(), 0)).rejects.toMatchObject({status: 403});
});
