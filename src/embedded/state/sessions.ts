import {randomBytes} from 'node:crypto';
import type {IncomingHttpHeaders} from 'node:http';
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

/** One-time tokens to sign in to the pages, and sessions of browsers; by hashes, so that timing reveals nothing. */
export function browserSessions() {
  const tokens = new Set<string>();
  const sessions = new Map<string, BrowserSession>();
  return {
    /** Creates a token that signs in once. */
    newToken(): string {
      const token = randomToken();
      tokens.add(hashOf(token));
      return token;
    },

    /** Uses up a token: returns the Set-Cookie field of a new session for a port; undefined for an invalid token. */
    signIn(token: string, port: number): string | undefined {
      if (!tokens.delete(hashOf(token))) return undefined;
      const cookie = randomToken();
      sessions.set(hashOf(cookie), {pageToken: randomToken()});
      return `${cookieName(port)}=${cookie}; Path=/; HttpOnly; SameSite=Strict`;
    },

    /** The session at a port that a request belongs to, by its cookie. */
    find: (headers: IncomingHttpHeaders, port: number) => sessions.get(sessionIdOf(headers, port)),

    signOut: (headers: IncomingHttpHeaders, port: number) => sessions.delete(sessionIdOf(headers, port)),
  };
}

/** Browsers send a host's cookies to all its ports, so the name of the cookie distinguishes services. */
function cookieName(port: number): string {
  return `media-session-${port}`;
}

/** The key of a session in the map: the hash of the cookie that the browser sent. */
function sessionIdOf({cookie = ''}: IncomingHttpHeaders, port: number): string {
  const start = `${cookieName(port)}=`;
  const pairs = cookie.split(';').map(pair => pair.trim());
  return hashOf(pairs.find(pair => pair.startsWith(start))?.slice(start.length) ?? '');
}

/** A new random text that nobody can guess, for a URL, a cookie or a form. */
function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
