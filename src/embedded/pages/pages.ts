import {own} from '../../lib/object.ts';
import {packageText} from '../../package-file.ts';
import type {Service} from '../api/context.ts';
import type {Exchange, PlainResponse} from '../exchange/http-exchange.ts';
import {Refusal, type Route, reads, refusalOf, routeFor, wrongMethod} from '../exchange/refusal.ts';
import {respond} from '../exchange/respond.ts';
import {deleteMedium, gallery, mediaPage} from './gallery.ts';
import {type Html, html, type PageRequest, pageWith, queryOf, readForm, redirectTo} from './page.ts';
import {createKey, profile, renameKey, revokeKey, saveName} from './profile-page.ts';

type Handler = (page: PageRequest, id: string) => Promise<PlainResponse>;

const handlers: readonly Route<Handler>[] = [
  [/^\/$/, reads, gallery],
  [/^\/media\/(\w+)$/, reads, mediaPage],
  [/^\/media\/(\w+)\/delete$/, ['POST'], form(deleteMedium, '/')],
  [/^\/profile$/, reads, profile],
  [/^\/profile\/name$/, ['POST'], form(saveName, '/profile')],
  [/^\/profile\/keys$/, ['POST'], form(createKey, '/profile')],
  [/^\/profile\/keys\/(\w+)\/rename$/, ['POST'], form(renameKey, '/profile')],
  [/^\/profile\/keys\/(\w+)\/revoke$/, ['POST'], form(revokeKey, '/profile')],
  [/^\/sign-out$/, ['POST'], form(signOut, '/')],
];

/** Handles a form: does what it asks for, then shows a page, so that a reload does not send the form again. */
function form(act: (page: PageRequest, id: string, form: URLSearchParams) => unknown, next: string): Handler {
  return async (page, id) => {
    await act(page, id, await readForm(page));
    return redirectTo(next);
  };
}

/** Responds to a request for a page, its style sheet or its script. Errors are shown as pages too. */
export async function showPage(exchange: Exchange, service: Service): Promise<void> {
  respond(exchange, await responseTo(exchange, service).catch(error => errorPage(exchange, error)));
}

/** A refusal as a page; any other error is thrown again, so that the server sends its 500. */
export function errorPage(exchange: Exchange, error: unknown): PlainResponse {
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  const {status, headers} = refusal;
  // Its own message names methods of HTTP, to a person who opened the URL of a form or of the API.
  const message = status === 405 ? 'This URL is not a page.' : refusal.message;
  const content = html`<p>${message}</p><p>${wayBack(exchange.path, refusal)}</p>`;
  return pageWith(content, exchange, {title: 'The request failed', status, headers});
}

/** A link from an error page to the page with the form that failed, if there is one. */
function wayBack(path: string, {status}: Refusal): Html {
  if (path.startsWith('/profile/')) return html`<a href="/profile">Go back to the profile page</a>`;
  const mediaPath = /^(\/media\/\w+)\/delete$/.exec(path)?.[1];
  if (mediaPath !== undefined && status !== 404) return html`<a href="${mediaPath}">Go back to the file</a>`;
  return html`<a href="/">Go to the gallery</a>`;
}

/** Without a session, a request gets only assets, the sign-in with a token, or the page that asks to sign in. */
async function responseTo(exchange: Exchange, service: Service): Promise<PlainResponse> {
  const {path, method, request} = exchange;
  const asset = /^\/assets\/(.*)$/.exec(path)?.[1];
  if (asset !== undefined) return assetResponse(asset, method);
  const token = path === '/' ? queryOf(exchange).get('token') : null;
  // A HEAD request, as link checkers send it, does not use up the token.
  if (token !== null && method === 'GET') return signIn(exchange, service, token);
  const session = service.sessions.find(request.headers, service.port());
  if (session === undefined) return askToSignIn(exchange);
  const {handle, id} = routeFor(handlers, exchange);
  return handle({exchange, service, session}, id);
}

const assets: Readonly<Record<string, string>> = {
  'icon.svg': 'image/svg+xml',
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
};

/** A file of dist/assets that the table above names; it needs no session. */
function assetResponse(name: string, method: string): PlainResponse {
  const contentType = own(assets, name);
  if (contentType === undefined) throw new Refusal(404, 'There is nothing at this URL.');
  if (!reads.includes(method)) throw wrongMethod(reads);
  const headers = {
    'Content-Type': contentType,
    'Cache-Control': 'no-cache',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  return {status: 200, text: packageText(`dist/assets/${name}`), headers};
}

/** GET of /?token=...: uses up the token and sets the cookie. */
function signIn(exchange: Exchange, service: Service, token: string): PlainResponse {
  const cookie = service.sessions.signIn(token, service.port());
  if (cookie === undefined) return askToSignIn(exchange);
  // A page that continues by itself: after a click on another site, browsers send no cookie with a redirect.
  const content = html`<p><a href="/">Go to the gallery</a></p>`;
  return pageWith(content, exchange, {title: 'Signed in', next: '/', headers: {'Set-Cookie': cookie}});
}

/** The response to any request without a session. */
function askToSignIn(exchange: Exchange): PlainResponse {
  const content = html`<p>Open the link that <code>media serve</code> printed. It works once. The line that contains it says how to get another.</p>`;
  return pageWith(content, exchange, {title: 'Sign in', status: 403});
}

function signOut({exchange, service, session}: PageRequest): void {
  if (session.uploadKey !== undefined) service.keys.forget(session.uploadKey);
  service.sessions.signOut(exchange.request.headers, service.port());
}
