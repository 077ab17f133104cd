import type {Exchange} from '../exchange/exchange.ts';
import {respond} from '../exchange/respond.ts';
import {type Html, html} from './html.ts';

/** Only the page's own script may run, and other sites cannot embed or read the page. */
const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    ...['script-src', 'style-src', 'img-src', 'media-src', 'connect-src', 'form-action'].map(
      directive => `${directive} 'self'`,
    ),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // With no-referrer, browsers would send "Origin: null" with forms.
  'Referrer-Policy': 'same-origin',
};

/** The frame around the content of a page. */
export interface Frame {
  readonly title: string;
  /** The current page in the navigation; undefined before sign-in, when there is no navigation. */
  readonly place?: 'gallery' | 'profile' | 'elsewhere';
  /** The CSRF token for the sign-out form. */
  readonly pageToken?: string;
  /** A URL that the browser opens immediately. */
  readonly next?: string;
}

/** Responds with a page. */
export function respondPage(
  exchange: Exchange,
  status: number,
  frame: Frame,
  content: Html,
  headers: Readonly<Record<string, string>> = {},
): void {
  respond(exchange, status, whole(frame, content).toString(), {...pageHeaders, ...headers});
}

/** Responds to a form with a redirect, so that a reload does not send the form again. */
export function redirectTo(exchange: Exchange, path: string): void {
  respond(exchange, 303, '', {...pageHeaders, Location: path});
}

function whole({title, place, pageToken, next}: Frame, content: Html): Html {
  const link = (path: string, name: string, isHere: boolean) =>
    isHere ? html`<a href="${path}" aria-current="page">${name}</a>` : html`<a href="${path}">${name}</a>`;
  const navigation = html`
    <nav aria-label="Pages">
      ${link('/', 'Gallery', place === 'gallery')}
      ${link('/profile', 'Profile and keys', place === 'profile')}
      <form method="post" action="/sign-out">${tokenField(pageToken ?? '')}<button>Sign out</button></form>
    </nav>`;
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${next === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${next}">`}
    <title>${title} · media</title>
    <link rel="icon" href="/assets/icon.svg">
    <link rel="stylesheet" href="/assets/page.css">
    <script type="module" src="/assets/page.js"></script>
  </head>
  <body>
    <header><strong>media</strong>${place === undefined ? undefined : navigation}</header>
    <main><h1>${title}</h1>${content}</main>
  </body>
</html>
`;
}

/** The hidden form field with the CSRF token of the session. */
export function tokenField(pageToken: string): Html {
  return html`<input type="hidden" name="page-token" value="${pageToken}">`;
}
