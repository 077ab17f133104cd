import {own} from '../../lib/object.ts';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import type {Service} from '../api/context.ts';
import type {Exchange, PlainResponse} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {readBody} from '../exchange/request-body.ts';
import type {BrowserSession} from '../state/sessions.ts';

/** Only the page's own script may run, and other sites cannot embed or read the page. Pico's icons are data URLs. */
const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; " +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // With no-referrer, browsers would send "Origin: null" with forms.
  'Referrer-Policy': 'same-origin',
};

/** The frame around the content of a page. */
interface Frame {
  readonly title: string;
  /** Default 200. */
  readonly status?: number;
  /** The CSRF token for the sign-out form of the navigation; undefined before sign-in, when there is none. */
  readonly pageToken?: string;
  /** A URL that the browser opens immediately; after a click on another site, it sends no cookie to a redirect. */
  readonly next?: string;
  readonly headers?: PlainResponse['headers'];
}

export function pageWith(
  content: Html,
  {path: here}: Exchange,
  {title, status = 200, pageToken, next, headers}: Frame,
): PlainResponse {
  const link = (path: string, name: string) =>
    html`<li><a href="${path}"${path === here ? html` aria-current="page"` : undefined}>${name}</a></li>`;
  const navigation = html`
        <ul>
          ${link('/', 'Gallery')}
          ${link('/profile', 'Profile')}
          <li><form method="post" action="/sign-out">${tokenField(pageToken ?? '')}<button>Sign out</button></form></li>
        </ul>`;
  const {text} = html`<!doctype html>
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
    <header>
      <nav aria-label="Pages">
        <ul><li><strong>media</strong></li></ul>${pageToken === undefined ? undefined : navigation}
      </nav>
    </header>
    <main><h1>${title}</h1>${content}</main>
  </body>
</html>
`;
  return {status, text, headers: {...pageHeaders, ...headers}};
}

export function redirectTo(path: string): PlainResponse {
  return {status: 303, text: '', headers: {...pageHeaders, Location: path}};
}

/** A button that opens a box over the page, without a script; Escape closes it. `id` is unique on the page. */
export function popover(id: string, name: string, content: Html): Html {
  return html`<button type="button" class="small" popovertarget="${id}">${name}</button>
          <div popover id="${id}" role="dialog" aria-label="${name}">${content}</div>`;
}

/** A button that copies a text. The script makes it visible. */
export function copyButton(text: string, name: string): Html {
  return html`<button type="button" class="small" data-copy="${text}" hidden>${name}</button>`;
}

/** The hidden form field with the CSRF token of the session. */
export function tokenField(pageToken: string): Html {
  return html`<input type="hidden" name="page-token" value="${pageToken}">`;
}

export interface PageRequest {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly session: BrowserSession;
}

export function queryOf({request}: Exchange): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(request.url ?? '')?.[1] ?? '');
}

const longestForm = 64 * 1024;

/** Reads a form of this session; throws a 403 for another origin or token, since other ports send its cookie too. */
export async function readForm({exchange, service, session}: PageRequest): Promise<URLSearchParams> {
  const {authority, request} = exchange;
  const {headers} = request;
  const foreign = new Refusal(
    403,
    'This form was not sent from a page of this service. Reload the page and try again.',
  );
  // The Host field, which has been checked before; a proxy in front of the service may speak https.
  const urls = [`http://${authority ?? headers.host ?? ''}`, service.publicUrl()];
  if (!urls.some(url => new URL(url).origin === headers.origin)) throw foreign;
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? ''))
    throw new Refusal(415, 'Content-Type must be application/x-www-form-urlencoded.');
  const form = new URLSearchParams(await readBody(exchange, longestForm));
  if (!isSameSecret(form.get('page-token') ?? '', session.pageToken)) throw foreign;
  return form;
}

/** Text that is already HTML. Only the tag below creates it, so all other text in a page is escaped. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type {Html};

type Part = Html | string | number | undefined | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A tag for HTML templates: escapes all values for text and quoted attributes, except values of this tag. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = literals.map((literal, index) => `${literal}${htmlOf(parts[index])}`);
  return new Html(text.join(''));
}

/** The HTML of a part: an Html as it is, any other value as escaped text. */
function htmlOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(htmlOf).join('');
  return String(part).replace(/[&<>"']/g, character => own(entities, character) ?? '');
}
