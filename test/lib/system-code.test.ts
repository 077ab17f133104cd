import {constants} from 'node:os';
import {getSystemErrorName} from 'node:util';
import {expect, test} from 'vitest';
import {systemCode, systemReason} from '../../src/lib/system-code.ts';

test.each([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk is full'],
  ['ESTALE', 'ESTALE'],
  ['EACCES', 'permission denied'],
] as const)('%s, as Node reports it: %s', (code, reason) => {
  const errno = -constants.errno[code];
  const name = getSystemErrorName(errno);
  const error = Object.assign(new Error(`${name}: ${name}, write`), {code: name, errno});
  expect(systemCode(error)).toBe(code);
  expect(systemReason(error)).toBe(reason);
});

test('an error that the system does not know either keeps its code', () => {
  const code = 'Unknown system error -9999';
  expect(systemCode(Object.assign(new Error(code), {code, errno: -9999}))).toBe(code);
});
