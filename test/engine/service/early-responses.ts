import {expect, test} from 'vitest';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {eventually} from '../../support/eventually.ts';
import {someRecord} from '../../support/scripted-server.ts';
import {answerText, clientOf, sinkServer, unbufferable, uploadEach, zeroSource} from './support.ts';

/** What a test says of an outcome. */
export function summary(outcome: Outcome | undefined): Record<string, unknown> {
  if (outcome === undefined) return {};
  return 'error' in outcome
    ? {status: outcome.status, code: outcome.error.code, attempts: outcome.attempts}
    : {status: outcome.status, attempts: outcome.attempts};
}

/** Tests each kind of response to a request of which so many bytes of the body were read. */
export function testEarlyResponses(when: string, bytes: number): void {
  test.each([
    [200, someRecord, 'premature_response', 1],
    [201, '<html>', 'premature_response', 1],
    [204, '', 'premature_response', 1],
    [401, '{"message":"no"}', 'unauthorized', 1],
    [413, '{"message":"no"}', 'rejected', 1],
    [301, '', 'redirected', 1],
    [500, '{"message":"no"}', 'service_failed', 3],
  ])(`%i with the body %j after ${when}: %s after %i tries`, async (status, body, code, attempts) => {
    const answer = answerText(status, body);
    const sink = await sinkServer({pauseAfter: bytes, onPaused: socket => socket.end(answer)});
    const [outcome] = await uploadEach([zeroSource('a.png', unbufferable)], clientOf(sink.url), {
      retries: 2,
    });
    expect(summary(outcome)).toEqual({status: 'failed', code, attempts});
    sink.resume();
    await eventually(() => sink.requests.every(({closed}) => closed));
    expect(sink.requests).toHaveLength(attempts);
    for (const request of sink.requests) expect(request.bodyBytes).toBeLessThan(unbufferable);
  });
}
