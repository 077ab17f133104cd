import {expect} from 'vitest';
import type {EmbeddedService} from '../support/embedded-service.ts';

/** The field of a request that may come twice. */
export const idempotent = {'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"'};

export async function idOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return ((await response.json()) as {id: string}).id;
}

export async function onlyId(service: EmbeddedService): Promise<string | null | undefined> {
  const records = await service.records();
  expect(records).toHaveLength(1);
  return records[0]?.record.id;
}
