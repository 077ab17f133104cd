import type {Service} from '../api/context.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {readForm} from './form.ts';
import {html} from './html.ts';
import {cookieNameOf, type PageRequest} from './page-request.ts';
import {redirectTo, respondPage} from './respond-page.ts';

/** GET of /?token=...: uses up the token and sets the cookie. */
export function signIn(exchange: Exchange, service: Service, token: string): void {
  const cookie = service.sessions.signIn(token);
  if (cookie === undefined) {
    askToSignIn(exchange);
    return;
  }
  // A page that continues automatically, not a redirect: after a click on another site, browsers would not send the cookie with a redirect.
  respondPage(
    exchange,
    200,
    {title: 'Signed in', next: '/'},
    html`<p><a href="/">Go to the gallery</a></p>`,
    {
      'Set-Cookie': `${cookieNameOf(service)}=${cookie}; Path=/; HttpOnly; SameSite=Strict`,
    },
  );
}

/** The response to any request without a session. */
export function askToSignIn(exchange: Exchange): void {
  respondPage(
    exchange,
    403,
    {title: 'Sign in'},
    html`<p>Open the link that <code>media serve</code> printed. It works once, and says how to get another.</p>`,
  );
}

/** POST of /sign-out. */
export async function signOut(page: PageRequest): Promise<void> {
  const {exchange, service, session} = page;
  await readForm(page);
  if (session.uploadKey !== undefined) service.keys.forget(session.uploadKey);
  service.sessions.signOut(exchange.request, cookieNameOf(service));
  redirectTo(exchange, '/');
}
