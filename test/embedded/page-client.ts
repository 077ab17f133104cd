import type {EmbeddedService} from '../support/embedded-service.ts';

/** A browser's part in the pages of a service, as far as fetch plays it: a cookie, an origin and forms. */
export class PageClient {
  readonly url: string;
  cookie = '';

  constructor({url}: Pick<EmbeddedService, 'url'>) {
    this.url = url;
  }

  /** Opens a sign-in link, and keeps the cookie. */
  async signIn(link: string): Promise<Response> {
    const response = await fetch(link, {headers: {Accept: 'text/html'}});
    this.cookie = /^[^;]*/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '';
    return response;
  }

  /** Opens a page. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, {
      headers: {Accept: 'text/html', Cookie: this.cookie, ...headers},
      redirect: 'manual',
    });
  }

  async textOf(path: string): Promise<string> {
    return (await this.get(path)).text();
  }

  /** The token that the forms of a page carry. */
  async pageToken(): Promise<string> {
    return /name="page-token" value="([^"]+)"/.exec(await this.textOf('/profile'))?.[1] ?? '';
  }

  /** Sends a form as a page of the service would, but for what is given. */
  async post(
    path: string,
    fields: Record<string, string> | [string, string][],
    headers: Record<string, string | undefined> = {},
  ): Promise<Response> {
    const body = new URLSearchParams(Array.isArray(fields) ? fields : Object.entries(fields));
    if (!body.has('page-token')) body.set('page-token', await this.pageToken());
    const all = {Accept: 'text/html', Cookie: this.cookie, Origin: this.url, ...headers};
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return fetch(this.url + path, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: Object.fromEntries(given),
    });
  }

  /** The key that the profile page shows once after a form created it. */
  async createKey(fields: [string, string][]): Promise<string> {
    await this.post('/profile/keys', fields);
    return /id="new-key">(mk_[^<]+)</.exec(await this.textOf('/profile'))?.[1] ?? '';
  }
}
