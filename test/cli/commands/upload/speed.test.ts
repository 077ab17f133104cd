import {expect, test} from 'vitest';
import {transferOptions} from '../../../../src/cli/commands/upload/resources.ts';
import {settingTable} from '../../../../src/cli/settings/setting-table.ts';
import {transferDefaults} from '../../../../src/engine/transfer/transfer-options.ts';
import {systemHost} from '../../../../src/host.ts';
import {concurrencyValue, durationValue, rateValue} from '../../../../src/lib/value-kinds.ts';

const ofThisRun = {} as Parameters<typeof transferOptions>[3];
const resources = {};
const given = {types: 'extension', retries: 5} as const;

const {concurrency, retryMaxWaitMs} = transferDefaults;
const unlimited = {concurrency, retryMaxWaitMs, limitRate: undefined};

/** The speed that a batch gets. */
function speedOf(flags: object, speed: object) {
  const host = systemHost();
  const all = transferOptions({...given, ...flags}, {...resources, speed}, {host}, ofThisRun);
  return {concurrency: all.concurrency, limitRate: all.limitRate, retryMaxWaitMs: all.retryMaxWaitMs};
}

test.each([
  ['nothing is set', {}, {}, {...unlimited}],
  [
    'the profile sets all',
    {},
    {concurrency: 3, limitRate: 100, retryMaxWait: 9},
    {concurrency: 3, limitRate: 100, retryMaxWaitMs: 9},
  ],
  [
    'the options win',
    {concurrency: 4, limitRate: 200, retryMaxWait: 8},
    {concurrency: 3, limitRate: 100, retryMaxWait: 9},
    {concurrency: 4, limitRate: 200, retryMaxWaitMs: 8},
  ],
  ['--limit-rate none', {limitRate: Number.POSITIVE_INFINITY}, {limitRate: 100}, {...unlimited}],
])('%s', (_what, flags, speed, expected) => expect(speedOf(flags, speed)).toEqual(expected));

test('the defaults that config list shows are those of a run', () => {
  expect({
    concurrency: concurrencyValue.read(settingTable.concurrency.default ?? ''),
    limitRate: rateValue.read(settingTable['limit-rate'].default ?? ''),
    retryMaxWaitMs: durationValue.read(settingTable['retry-max-wait'].default ?? ''),
  }).toEqual({...speedOf({}, {}), limitRate: Number.POSITIVE_INFINITY});
});
