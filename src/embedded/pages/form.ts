import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import {readBody} from '../exchange/body.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {singleLine} from '../exchange/single-line.ts';
import type {PageRequest} from './page-request.ts';

const longestForm = 64 * 1024;

/**
 * Reads a form sent from a page of this session; throws a 403 if its origin or its CSRF token is wrong. Cookies are not
 * enough: browsers also send them with forms from other ports of this machine.
 */
export async function readForm({exchange, service, session}: PageRequest): Promise<URLSearchParams> {
  const {headers} = exchange.request;
  // A proxy in front of the service may speak https.
  const origins = [originOf(exchange), new URL(service.publicUrl()).origin];
  if (!origins.includes(headers.origin ?? '')) throw foreign();
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) {
    throw new Refusal(415, 'Content-Type must be application/x-www-form-urlencoded.');
  }
  const form = new URLSearchParams(await readBody(exchange, longestForm));
  if (!isSameSecret(form.get('page-token') ?? '', session.pageToken)) throw foreign();
  return form;
}

/** The single-line text of a field; throws a 422 if it is missing or too long. */
export function lineOf(form: URLSearchParams, field: string, longest: number): string {
  return singleLine(form.get(field) ?? '', field, longest);
}

/** The origin of the service, from the Host header, which has been checked before. */
function originOf({authority, request}: Exchange): string {
  return new URL(`http://${authority ?? request.headers.host ?? ''}`).origin;
}

function foreign(): Refusal {
  return new Refusal(
    403,
    'This form was not sent from a page of this service. Reload the page and try again.',
  );
}
