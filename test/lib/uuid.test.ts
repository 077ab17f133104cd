import {expect, test} from 'vitest';
import {systemHost} from '../../src/host.ts';

// The first of each host, and the others of one.
const host = systemHost();
const made = [
  ...Array.from({length: 1000}, () => systemHost().uuid()),
  ...Array.from({length: 1000}, () => host.uuid()),
];

test('a UUID says its version and variant (RFC 9562)', () => {
  const odd = made.filter(
    text => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text),
  );
  expect(odd).toEqual([]);
});

test('no UUID comes twice, and each of its other bits is set in about half of them', () => {
  expect(new Set(made).size).toBe(made.length);
  const fixed = [48, 49, 50, 51, 64, 65];
  const bits = made.map(text =>
    BigInt(`0x${text.replaceAll('-', '')}`)
      .toString(2)
      .padStart(128, '0'),
  );
  const shares = Array.from(
    {length: 128},
    (_, bit) => bits.filter(text => text[bit] === '1').length / made.length,
  );
  // One bit of 122 strays so far in one run of 10 to the 15th.
  expect(shares.filter((share, bit) => !fixed.includes(bit) && Math.abs(share - 0.5) > 0.1)).toEqual([]);
});
