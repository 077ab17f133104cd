import {expect, test} from 'vitest';
import {isRecordId, recordIds} from '../../src/embedded/state/stored-record.ts';
import {systemClock} from '../../src/host.ts';

function clockAt(times: number[]) {
  return {...systemClock, now: () => times.shift() ?? 0};
}

test('IDs are in the order of their making, whatever the clock does', () => {
  const times = [
    ...Array.from({length: 40_000}, () => 1_800_000_000_000),
    1_700_000_000_000,
    1_800_000_000_001,
    1_800_000_000_002.5,
    1_900_000_000_000,
  ];
  const next = recordIds(clockAt([...times]));
  const ids = times.map(next);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(isRecordId)).toBe(true);
});

for (const text of [
  '',
  'm_',
  `m_${'0'.repeat(28)}`,
  `m_${'0'.repeat(30)}`,
  `m_${'A'.repeat(29)}`,
  `m_${'0'.repeat(29)}\n`,
  `x_${'0'.repeat(29)}`,
  `m_../${'0'.repeat(26)}`,
  `m_${'0'.repeat(28)}/`,
]) {
  test(`${JSON.stringify(text)} is no ID`, () => expect(isRecordId(text)).toBe(false));
}
