import {isIP} from 'node:net';
import {undefinedIfThrows} from './system-code.ts';

/** Characters that end a URL, or begin something else, in Markdown, HTML or CSS, or that TOML does not allow. */
const unsafe = /["'()<>\\|`\s\p{Cc}\p{Cs}]/gu;

/** A web URL in standard form, with what is special to Markdown, HTML or CSS percent-encoded; else undefined. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const address = new URL(url);
  if (!/^https?:$/.test(address.protocol)) return undefined;
  return withoutUnsafe(address.href);
}

/** Percent-encodes these characters in a part of a URL. */
export function withoutUnsafe(part: string): string {
  const encode = (text: string) => Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&');
  return part.replace(unsafe, encode);
}

/** Decodes a part of a URL; as it is if a percent sign in it encodes nothing, as in a password put in unencoded. */
export function decodePercent(part: string): string {
  return undefinedIfThrows(() => decodeURIComponent(part)) ?? part;
}

/** A safe URL as the target of a Markdown link: `&copy;` would be a character, and in a CI log `##vso[` a command. */
export function linkTarget(url: string): string {
  return url.replace(/&(?=#?\w+;)/g, '&amp;').replace(/##(?=\w*\[)/g, '#&#35;');
}

/** Whether a host name means this machine's loopback: localhost, 127.0.0.0/8 or ::1. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
