import {randomBytes} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {hashOf} from './keys.ts';

/** A browser that has signed in, until it signs out or the process ends. */
export interface BrowserSession {
  /** The token that every change from one of its pages must contain. */
  readonly pageToken: string;
  /** The key with which its pages upload: it permits nothing else, and only this process knows it. */
  uploadKey?: string;
  /** A key that was just created, for the page that shows it once. */
  newKey?: string;
}

/** One-time tokens for signing in to the pages, and browsers' sessions; found by hashes, so that timing reveals nothing. */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #sessions = new Map<string, BrowserSession>();

  /** Creates a token that signs in once. */
  newToken(): string {
    const token = secret();
    this.#tokens.add(hashOf(token));
    return token;
  }

  /** Uses up a token: returns the cookie's value for a new session, or undefined if the token is not valid. */
  signIn(token: string): string | undefined {
    if (!this.#tokens.delete(hashOf(token))) return undefined;
    const cookie = secret();
    this.#sessions.set(hashOf(cookie), {pageToken: secret()});
    return cookie;
  }

  /** The session of a request, by its cookie. */
  find(request: IncomingMessage, cookieName: string): BrowserSession | undefined {
    return this.#sessions.get(hashOf(cookieOf(request, cookieName)));
  }

  signOut(request: IncomingMessage, cookieName: string): void {
    this.#sessions.delete(hashOf(cookieOf(request, cookieName)));
  }
}

/** The value of a cookie; empty without one. */
function cookieOf({headers}: IncomingMessage, name: string): string {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
