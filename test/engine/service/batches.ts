import type {Source} from '../../../src/engine/sources/open/source.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {type Script, someRecord} from '../../support/scripted-server.ts';
import {memorySource} from './support.ts';

export const small = Buffer.alloc(1_000, 1);

export function sources(...names: string[]): Source[] {
  return names.map(name => memorySource(name, Buffer.concat([small, Buffer.from(name)])));
}

/** Answers the whole of each request; the last status goes for all that follow. */
export function statuses(...answers: number[]): Script[] {
  return answers.map(status => async connection => {
    await connection.request();
    connection.answer(status, status === 200 ? someRecord : '{"code":7,"message":"no"}');
  });
}

export function codes(outcomes: Outcome[]): string[] {
  return outcomes.map(outcome =>
    'error' in outcome ? `${outcome.status} ${outcome.error.code}` : outcome.status,
  );
}
