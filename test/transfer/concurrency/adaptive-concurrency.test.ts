import {describe, expect, it} from 'vitest';
import type {Concurrency} from '../../../src/transfer/concurrency/concurrency.ts';
import {concurrencyOf} from '../../../src/transfer/concurrency/concurrency-option.ts';

/** A line and the service at its end; times in milliseconds. */
interface Link {
  /** From the first byte of a file to its response, on an idle line. */
  latency: number;
  /** Bytes per millisecond for all files together. */
  bandwidth?: number;
  /** The service refuses files beyond so many at a time, at once, with 429. */
  most?: number;
  /** The service works on so many at a time; others wait. */
  workers?: number;
}

interface Sent {
  files: number;
  size?: number;
}

/** Sends files over a simulated link; a file that was refused is sent again after the pause. */
function send(link: Link, {files, size = 3_000}: Sent, of: number | {most: number}) {
  let now = 0;
  const clock = {monotonic: () => now};
  const concurrency: Concurrency = concurrencyOf(of, clock);
  const sending: {endsAt: number; isRefused: boolean}[] = [];
  const again: number[] = [];
  const limits: number[] = [];
  let [left, stored, refused, lineIsFreeAt] = [files, 0, 0, 0];
  const workersFreeAt: number[] = Array.from({length: link.workers ?? 0}, () => 0);
  const begin = () => {
    concurrency.began(size);
    const accepted = sending.filter(({isRefused}) => !isRefused).length;
    const isRefused = accepted >= (link.most ?? Number.POSITIVE_INFINITY);
    lineIsFreeAt = Math.max(now, lineIsFreeAt) + (isRefused ? 0 : size / (link.bandwidth ?? Infinity));
    let endsAt = Math.max(now, lineIsFreeAt) + link.latency;
    if (workersFreeAt.length > 0) {
      const [earliest = 0] = workersFreeAt.toSorted((a, b) => a - b);
      endsAt = Math.max(now, earliest) + link.latency;
      workersFreeAt[workersFreeAt.indexOf(earliest)] = endsAt;
    }
    sending.push({endsAt: isRefused ? now + 1 : endsAt, isRefused});
  };
  while (stored < files) {
    while (sending.length + again.length < concurrency.limit && left > 0) {
      left -= 1;
      begin();
    }
    for (const at of again.filter(time => time <= now)) {
      again.splice(again.indexOf(at), 1);
      begin();
    }
    sending.sort((one, other) => one.endsAt - other.endsAt);
    const next = sending[0];
    now = Math.min(next?.endsAt ?? Number.POSITIVE_INFINITY, ...again);
    if (next === undefined || next.endsAt > now) continue;
    sending.shift();
    if (next.isRefused) {
      refused += 1;
      concurrency.setback();
      concurrency.ended(size, false);
      again.push(now + 500);
    } else {
      stored += 1;
      concurrency.ended(size, true);
    }
    limits.push(concurrency.limit);
  }
  return {ms: now, refused, most: Math.max(...limits), last: limits.at(-1) ?? 0};
}

const auto = {most: 128};

/** The time of the best fixed number of files at a time. */
function best(link: Link, sent: Sent): number {
  return Math.min(...[8, 16, 32, 64, 128].map(of => send(link, sent, of).ms));
}

describe('auto: as many files at a time as raise the throughput', () => {
  it.each([
    ['10 ms, no limit', {latency: 10}],
    ['150 ms, no limit', {latency: 150}],
    ['50 ms, 10 Mbit/s', {latency: 50, bandwidth: 1_250}],
    ['a service that works on 20 at a time for 200 ms', {latency: 200, workers: 20}],
  ] satisfies [string, Link][])('%s, 5,000 small files: 0.9 of the best fixed number', (_, link) => {
    expect(best(link, {files: 5_000}) / send(link, {files: 5_000}, auto).ms).toBeGreaterThan(0.9);
  });

  it.each([300, 1_000])('150 ms, %i files: faster than 8 at a time by half and more', files => {
    const link = {latency: 150};
    expect(send(link, {files}, 8).ms / send(link, {files}, auto).ms).toBeGreaterThan(1.5);
  });

  it('a line that is full with 8: not many more', () => {
    expect(send({latency: 10, bandwidth: 100}, {files: 2_000}, auto)).toMatchObject({last: 8});
  });

  it('a service that takes 4 at a time and refuses the rest: at most 5 % are refused', () => {
    const {refused, ms} = send({latency: 50, most: 4}, {files: 1_000}, auto);
    expect(refused).toBeLessThanOrEqual(50);
    expect(send({latency: 50, most: 4}, {files: 1_000}, 4).ms / ms).toBeGreaterThan(0.8);
  });

  it('large files: no more than 8 once 64 MiB are in progress', () => {
    expect(send({latency: 100}, {files: 100, size: 20 * 1024 * 1024}, auto).most).toBeLessThanOrEqual(8);
  });

  it.each([1, 5, 100])('auto:%i is never exceeded, from the first file on', most => {
    const {most: seen} = send({latency: 150}, {files: 2_000}, {most});
    expect(seen).toBeLessThanOrEqual(most);
  });

  it('setbacks without end: one at a time, never none', () => {
    const concurrency = concurrencyOf(auto, {monotonic: () => 0});
    for (let file = 0; file < 50; file += 1) {
      concurrency.began(1);
      concurrency.setback();
      concurrency.ended(1, false);
    }
    expect(concurrency.limit).toBe(1);
  });
});
