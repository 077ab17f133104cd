import {createHash} from 'node:crypto';
import {ServiceClient} from '../../../src/engine/service/client.ts';
import type {Source} from '../../../src/engine/sources/open/source.ts';
import type {TransferOptions} from '../../../src/engine/transfer/batch.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {systemClock} from '../../../src/host.ts';
import {Secret} from '../../../src/lib/secrets/secret.ts';
import {memorySource, uploadEach} from '../../engine/service/support.ts';
import {startEmbeddedService} from '../embedded-service.ts';
import {temporaryDirectory} from '../media.ts';
import type {Origin, Stored} from './keeping-server.ts';

const pngStart = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Bytes that begin as a PNG and that no other call gives. */
export function uniqueBytes(size: number): Buffer {
  const bytes = Buffer.alloc(Math.max(size, 64), 7);
  pngStart.copy(bytes);
  bytes.write(crypto.randomUUID(), 16);
  return bytes;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** An embedded service, with the key that it takes. */
export async function embeddedOrigin(): Promise<Origin & {key: string}> {
  const service = await startEmbeddedService({dataDirectory: await temporaryDirectory()});
  return {
    url: service.url,
    honoursKeys: true,
    key: await service.createKey(),
    close: async () => {
      await service.close();
      return (await service.records()).map(({record, sha256}) => ({id: record.id ?? '', sha256}));
    },
  };
}

export interface Batch {
  /** Where to send to. */
  url: string;
  key?: string;
  certificateAuthorities?: string;
  bodies: readonly Buffer[];
  options: Partial<TransferOptions>;
  /** When the run is told to end, in milliseconds from its start. */
  deadlineMs: number;
}

/** What the client allows itself after it was told to end, and some time for a busy machine. */
const graceMs = 5_000 + 3_000;

/** Uploads the bodies as a batch and resolves to the verdicts, or to undefined when it does not end in time. */
export async function uploadBatch(batch: Batch): Promise<Outcome[] | undefined> {
  const client = new ServiceClient(
    {baseUrl: new URL(batch.url)},
    new Secret(batch.key ?? 'key-of-the-test'),
    {
      clock: systemClock,
      env: {},
      headers: {'user-agent': 'media/torture'},
      ...(batch.certificateAuthorities === undefined
        ? {}
        : {certificateAuthorities: batch.certificateAuthorities}),
    },
  );
  const deadline = new AbortController();
  const passed = new MediaError('deadline_exceeded', 'The deadline of this run has passed.');
  const cancelDeadline = systemClock.after(batch.deadlineMs, () => deadline.abort(passed));
  let cancelHang = () => {};
  const hang = new Promise<undefined>(resolve => {
    cancelHang = systemClock.after(batch.deadlineMs + graceMs, () => resolve(undefined));
  });
  const sources = batch.bodies.map(slowSource);
  try {
    return await Promise.race([uploadEach(sources, client, {stop: deadline.signal, ...batch.options}), hang]);
  } finally {
    cancelDeadline();
    cancelHang();
    await client.close();
  }
}

/**
 * Bytes in memory that, as those of a file, are there no sooner than in another turn of the event loop. Of the small
 * ones, every second comes in one piece.
 */
function slowSource(bytes: Buffer, index: number): Source {
  const turn = () => new Promise<void>(resolve => setImmediate(resolve));
  const inOnePiece = bytes.length <= 64 * 1024 && index % 2 === 0;
  return memorySource(String(index), bytes, {
    read: async (position, length) => turn().then(() => bytes.subarray(position, position + length)),
    verify: () => turn().then(() => 'unchanged'),
    ...(inOnePiece ? {small: () => turn().then(() => ({bytes, verify: () => {}}))} : {}),
  });
}

/** How the verdicts on some files compare with what was really stored. */
export interface Comparison {
  files: number;
  /** A sentence for each verdict that is wrong. */
  broken: string[];
  unknown: number;
  /** Verdicts of unknown on files of which nothing was stored. */
  needless: number;
  uploaded: number;
}

/**
 * Holds verdicts against the truth: uploaded means stored exactly once, under the ID that was shown; failed means not
 * stored; unknown, stored at most once.
 */
export function compare(
  outcomes: readonly Outcome[] | undefined,
  bodies: readonly Buffer[],
  stored: readonly Stored[],
  /** False where answers are made up, so that IDs say nothing. */
  idsCount = true,
): Comparison {
  const result: Comparison = {files: bodies.length, broken: [], unknown: 0, needless: 0, uploaded: 0};
  if (outcomes === undefined) return {...result, broken: ['did not end in time']};
  for (const [index, body] of bodies.entries()) {
    const sha256 = sha256Of(body);
    const there = stored.filter(each => each.sha256 === sha256);
    const outcome = outcomes.find(({position}) => position === index);
    const verdict = outcome === undefined ? 'none' : outcome.status;
    const code = outcome !== undefined && 'error' in outcome ? ` ${outcome.error.code}` : '';
    const wrong = (what: string) =>
      result.broken.push(
        `file ${index} of ${body.length} bytes: ${verdict}${code}, ${what}, stored ${there.length} times`,
      );
    if (outcome === undefined) wrong('no verdict');
    else if (outcome.status === 'uploaded') {
      result.uploaded += 1;
      if (there.length !== 1) wrong('uploaded');
      else if (idsCount && there[0]?.id !== outcome.record.id)
        wrong(`under another ID (${outcome.record.id})`);
    } else if (outcome.status === 'unknown') {
      result.unknown += 1;
      if (there.length === 0) result.needless += 1;
      if (there.length > 1) wrong('twice');
    } else if (there.length > 0) wrong('although it failed');
  }
  return result;
}
