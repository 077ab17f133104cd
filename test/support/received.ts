import {parseRecord, type ReceivedRecord} from '../../src/engine/service/record.ts';

/** A record as the service sends it; throws if it is none. */
export function received(text: string): ReceivedRecord {
  const result = parseRecord(text);
  if ('problem' in result) throw new Error(result.problem);
  return result;
}
