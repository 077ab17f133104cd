import type {IncomingHttpHeaders} from 'node:http';

/** The token of a bearer credential; empty without one. */
export function bearerOf({authorization = ''}: IncomingHttpHeaders): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
}
