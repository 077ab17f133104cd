import type {Exchange} from '../exchange/exchange.ts';
import {respond} from '../exchange/respond.ts';
import {type Html, html} from './html.ts';

/** Nothing runs in a page but its own script, and nobody else's page gets at it. */
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
  // Without any referrer, browsers would send "Origin: null" with forms.
  'Referrer-Policy': 'same-origin',
};

/** What stands around the content of a page. */
export interface Frame {
  readonly title: string;
  /** The page of the navigation that this is; undefined without navigation, for who has not signed in. */
  readonly place?: 'gallery' | 'profile' | 'elsewhere';
  /** For the form that signs out. */
  readonly pageToken?: string;
  /** Opened at once, by the browser. */
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

/** Responds to a form with the page to go to, which a reload then loads again in place of the form. */
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

/** The field by which a form is known to come from a page of the session. */
export function tokenField(pageToken: string): Html {
  return html`<input type="hidden" name="page-token" value="${pageToken}">`;
}
