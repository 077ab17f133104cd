import {EventEmitter} from 'node:events';
import type {Worker} from 'node:worker_threads';
import {expect, test} from 'vitest';
import {boundedResponse} from '../../src/lib/bounded-response.ts';

test('a thread that takes too long to respond, and to end: ended once, and no response, though one comes then', async () => {
  let ends = 0;
  const events = new EventEmitter();
  const terminate = async () => {
    ends += 1;
    if (ends > 1) return;
    events.emit('message', 'an answer');
    setTimeout(() => events.emit('exit', 1), 350);
  };
  const thread = Object.assign(events, {postMessage() {}, terminate}) as unknown as Worker;
  expect(await boundedResponse(thread, {}, -1)).toBeUndefined();
  expect({ends, names: events.eventNames()}).toEqual({ends: 1, names: []});
});
