import fc from 'fast-check';
import {describe, expect} from 'vitest';
import {recover} from '../../../src/engine/journal/recovery.ts';
import {MediaError} from '../../../src/errors.ts';
import {
  formatHeader,
  formatTransition,
  parseLine,
  pathFields,
  pathKey,
  type ReadHandle,
  recordIn,
  type Transition,
} from '../../support/journal.ts';
import {anyText, holdsFor} from '../../support/property.ts';

const keys = fc.constantFrom('k1', 'k2', 'k3');
const hashes = fc.constantFrom('aa'.repeat(32), 'bb'.repeat(32));
const records = fc.dictionary(anyText, fc.jsonValue()).map(fields => JSON.stringify({...fields, id: 'm_1'}));
const pathKeys = fc.oneof(anyText.map(pathKey), fc.uint8Array({minLength: 1}).map(pathKey));

const intent = {
  key: keys,
  path: pathKeys,
  size: fc.nat(),
  stat: fc.option(fc.constant('1 2 3 4'), {nil: undefined}),
  types: fc.constantFrom('extension', 'image/png'),
  contentType: fc.constantFrom('image/png', 'video/mp4'),
};
const intents: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({event: fc.constant('intent' as const), ...intent}),
  fc.record({event: fc.constantFrom('commit' as const, 'hashed' as const), ...intent, sha256: hashes}),
);
const ends: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({event: fc.constantFrom('commit' as const, 'hashed' as const), key: keys, sha256: hashes}),
  fc.record({event: fc.constant('done' as const), key: keys, recordJson: records}),
  fc.record({
    event: fc.constant('failed' as const),
    key: keys,
    error: fc.record({code: fc.constant('rejected'), message: anyText}),
  }),
  fc.record({
    event: fc.constant('resolved' as const),
    key: keys,
    as: fc.constant('resend' as const),
    sha256: hashes,
  }),
);

describe('a line of the journal', () => {
  holdsFor(
    'any transition: one line, and reads as what was written',
    [fc.oneof(intents, ends)],
    transition => {
      const line = formatTransition(transition, 'w');
      expect(line.indexOf('\n')).toBe(line.length - 1);
      const {recordJson, ...told} = transition as Transition & {recordJson?: string};
      expect(parseLine(line)).toEqual({...told, by: told.event === 'done' ? '' : 'w'});
      if (recordJson !== undefined) expect(recordIn(line)).toBe(recordJson);
    },
  );

  holdsFor('any path: its bytes come back, and its text where it is UTF-8', [pathKeys], key => {
    const {path, pathBase64} = pathFields(key);
    expect(pathKey(pathBase64 === undefined ? path : Buffer.from(pathBase64, 'base64'))).toBe(key);
  });

  holdsFor('any text: a line or none, and no exception', [fc.oneof(anyText, fc.json())], text => {
    expect(parseLine(text)?.event ?? 'none').toMatch(
      /^(none|header|intent|seen|commit|hashed|done|failed|resolved|open|alive|release|close)$/,
    );
  });
});

function inMemory(bytes: Uint8Array): ReadHandle {
  return {
    read: async (buffer, offset, length, position) => {
      const part = bytes.subarray(position, position + length);
      buffer.set(part, offset);
      return {bytesRead: part.length};
    },
  };
}

/** Three uploads and what became of them, as a journal has them. */
const journals = fc
  .tuple(fc.tuple(pathKeys, pathKeys, pathKeys), fc.array(ends, {maxLength: 12}))
  .map(([paths, transitions]) => {
    const begun = paths.map(
      (path, index): Transition => ({
        event: 'intent',
        key: `k${index + 1}`,
        path,
        size: 1,
        contentType: 'image/png',
      }),
    );
    return Buffer.from(
      [
        formatHeader({service: 'https://media.example'}),
        ...[...begun, ...transitions].map(transition => formatTransition(transition, 'w')),
      ].join(''),
    );
  });

async function states(bytes: Uint8Array): Promise<string> {
  const {index} = await recover(inMemory(bytes), 'j');
  return JSON.stringify(['k1', 'k2', 'k3'].map(key => index.stateOf(index.rowOf(key))));
}

describe('the recovery of a journal', () => {
  holdsFor(
    'cut anywhere: knows what its whole lines say, and nothing of the rest',
    [journals, fc.double({min: 0, max: 1, noNaN: true})],
    async (bytes, share) => {
      const cut = bytes.subarray(0, Math.floor(share * bytes.length));
      const whole = bytes.subarray(0, cut.lastIndexOf(10) + 1);
      const known = await recover(inMemory(cut), 'j');
      expect(await states(cut)).toBe(await states(whole));
      expect(known.next.offset).toBe(whole.length);
      expect(known.unfinishedLine?.bytes.length ?? 0).toBe(cut.length - whole.length);
    },
  );

  holdsFor(
    'a stored record: stays stored, whatever lines follow',
    [journals, fc.array(ends, {maxLength: 6})],
    async (bytes, more) => {
      const done = formatTransition({event: 'done', key: 'k1', recordJson: '{"id":"m_1"}'}, 'w');
      const after = more
        .filter(({event}) => event !== 'done')
        .map(transition => formatTransition(transition, 'w'));
      const {index} = await recover(
        inMemory(Buffer.concat([bytes, Buffer.from(done), Buffer.from(after.join(''))])),
        'j',
      );
      expect(index.stateOf(index.rowOf('k1'))).toBe('done');
    },
  );

  holdsFor(
    'any bytes: a journal, or a refusal that says why',
    [
      fc.oneof(
        fc.uint8Array({maxLength: 300}),
        fc.tuple(journals, fc.nat(), fc.nat({max: 255})).map(([bytes, at, byte]) => {
          const damaged = Uint8Array.from(bytes);
          damaged[at % damaged.length] = byte;
          return damaged;
        }),
      ),
    ],
    async bytes => {
      const outcome: unknown = await recover(inMemory(bytes), 'j').catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(MediaError);
      if (outcome instanceof MediaError) expect(outcome.code).toBe('journal_unusable');
    },
  );
});
