import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {request as httpRequest} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {Secret} from '../../src/lib/secrets/secret.ts';
import {type EmbeddedService, startEmbeddedService} from '../support/embedded-service.ts';
import {PageClient} from './page-client.ts';
import {fixture, namesIn, png, query, startedService, upload} from './support.ts';

let service: EmbeddedService;
let directory: string;
let key: string;
let client: PageClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'media-pages-'));
  service = await startEmbeddedService({dataDirectory: directory});
  key = await service.createKey();
  client = new PageClient(service);
  await client.signIn(service.signInUrl());
});

afterAll(async () => {
  await service.close();
  await rm(directory, {recursive: true, force: true});
});

async function uploaded(bytes: Buffer<ArrayBuffer> = png(3, 2), contentType = 'image/png'): Promise<string> {
  const response = await upload(service, key, bytes, {'Content-Type': contentType});
  return ((await response.json()) as {id: string}).id;
}

/** A request with header fields that fetch does not let a caller set. */
function rawStatus(path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(service.url + path, {headers}, response => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('signing in', () => {
  it('a link: a cookie that scripts and other sites do not get, once', async () => {
    const link = service.signInUrl();
    const head = await fetch(link, {method: 'HEAD', headers: {Accept: 'text/html'}});
    expect([head.status, head.headers.get('set-cookie')]).toEqual([403, null]);
    const response = await new PageClient(service).signIn(link);
    expect(response.status).toBe(200);
    const {port} = new URL(service.url);
    expect(response.headers.get('set-cookie')).toMatch(
      new RegExp(`^media-session-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    const again = await new PageClient(service).signIn(link);
    expect([again.status, again.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it.each(['/', '/profile', '/media/m_01m8168ds90009hg8nrs8hww9dk76', '/profile/nothing'])(
    '%s without signing in: a page that says how, and nothing of what is stored',
    async path => {
      const id = await uploaded();
      const stranger = new PageClient(service);
      for (const cookie of ['', `${client.cookie}x`, client.cookie.replace('media-session', 'session')]) {
        stranger.cookie = cookie;
        const response = await stranger.get(path);
        const text = await response.text();
        expect(response.status).toBe(403);
        expect(text).toContain('<code>media serve</code>');
        expect(text).not.toContain(id);
        expect(text).not.toContain('mk_');
      }
    },
  );

  it('signing out: the cookie and the key for uploads end', async () => {
    const other = new PageClient(service);
    await other.signIn(service.signInUrl());
    const uploadKey = /data-upload-key="(mk_[^"]+)"/.exec(await other.textOf('/'))?.[1] ?? '';
    expect((await upload(service, uploadKey, png(1, 1))).status).toBe(200);
    expect((await query(service, uploadKey, '{viewer{id}}')).data).toBeUndefined();
    expect((await other.post('/sign-out', {})).status).toBe(303);
    expect((await other.get('/')).status).toBe(403);
    expect((await upload(service, uploadKey, png(1, 1))).status).toBe(401);
    expect((await client.get('/')).status).toBe(200);
  });

  it('/ for a program: what the service is, as before', async () => {
    const response = await fetch(service.url, {headers: {Accept: '*/*'}});
    expect(await response.json()).toMatchObject({service: 'media embedded service'});
  });
});

describe('API keys', () => {
  it('a created one: shown once, stored as a hash, with its name, permissions and expiry', async () => {
    const created = await client.createKey([
      ['name', '  build\tserver '],
      ['permission', 'upload'],
      ['permission', 'read'],
      ['days', '7'],
    ]);
    expect(created).toMatch(/^mk_[\w-]{32}$/);
    const page = await client.textOf('/profile');
    expect(page).not.toContain(created);
    // As media whoami shows it.
    expect(page).toContain(`<code>${new Secret(created).mask()}</code>`);
    expect(page).not.toContain(created.slice(0, 7));
    expect(page).toContain('<th scope="row">build server</th>');
    expect(page).toContain('<td>upload files, query /graphql</td>');
    const stored = await readFile(join(directory, 'keys.json'), 'utf8');
    expect(stored).not.toContain(created);
    const [entry] = JSON.parse(stored).keys.filter(({name}: {name?: string}) => name === 'build server');
    expect(Date.parse(entry.expiresAt) - Date.parse(entry.createdAt)).toBe(7 * 24 * 60 * 60 * 1000);
  });

  it.each([
    [['upload'], 200, 403],
    [['read'], 403, 200],
    [['graphql'], 403, 200],
  ])('that may %j: an upload gets %i, a query %i', async (permissions, uploadStatus, queryStatus) => {
    const created = await client.createKey([
      ['name', 'one'],
      ...permissions.map((one): [string, string] => ['permission', one]),
    ]);
    expect((await upload(service, created, png(1, 1))).status).toBe(uploadStatus);
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {Authorization: `Bearer ${created}`, 'Content-Type': 'application/json'},
      body: '{"query":"{viewer{name}}"}',
    });
    expect(response.status).toBe(queryStatus);
  });

  it('that was used: when, and by which program; renamed; revoked: 401', async () => {
    const created = await client.createKey([
      ['name', 'old name'],
      ['permission', 'upload'],
    ]);
    await upload(service, created, png(1, 1), {'User-Agent': 'agent/1.0 <i>'});
    const before = await client.textOf('/profile');
    expect(before).toContain('UTC</time> by agent/1.0 &lt;i&gt;<');
    const path =
      /<th scope="row">old name<\/th>[\s\S]*?action="(\/profile\/keys\/\w+)\/rename"/.exec(before)?.[1] ?? '';
    expect((await client.post(`${path}/rename`, {name: 'new name'})).status).toBe(303);
    const renamed = await client.textOf('/profile');
    expect(renamed).toContain('<th scope="row">new name</th>');
    expect(renamed).not.toContain('old name');
    expect((await upload(service, created, png(1, 1))).status).toBe(200);
    expect((await client.post(`${path}/revoke`, {})).status).toBe(303);
    expect(await client.textOf('/profile')).not.toContain('new name');
    const refused = await upload(service, created, png(1, 1));
    expect(refused.status).toBe(401);
    expect(await refused.json()).toEqual({
      code: 401,
      message: `The API key is unknown; create one on the profile page (${service.url}/profile).`,
    });
    expect((await client.post(`${path}/revoke`, {})).status).toBe(404);
    expect(await namesIn(directory, 'key-uses')).not.toContain(`${path.split('/').at(-1)}.json`);
  });

  it('past its expiry: 401, and the page says so', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z');
    const clock = {...(await import('../../src/host.ts')).systemClock, now: () => now};
    const other = await startedService({clock});
    const person = new PageClient(other);
    await person.signIn(other.signInUrl());
    const created = await person.createKey([
      ['name', 'brief'],
      ['permission', 'upload'],
      ['days', '1'],
    ]);
    now += 24 * 60 * 60 * 1000 - 1;
    expect((await upload(other, created, png(1, 1))).status).toBe(200);
    now += 1;
    const refused = await upload(other, created, png(1, 1));
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({message: expect.stringContaining('has expired')});
    expect(await person.textOf('/profile')).toContain('UTC</time> (expired)');
  });

  it.each<[string, [string, string][], string]>([
    ['no name', [['permission', 'upload']], 'The name is missing.'],
    [
      'a name of spaces',
      [
        ['name', ' \n'],
        ['permission', 'upload'],
      ],
      'The name is missing.',
    ],
    [
      'a name of 101 characters',
      [
        ['name', 'n'.repeat(101)],
        ['permission', 'upload'],
      ],
      'at most 100',
    ],
    ['no permission', [['name', 'x']], 'Choose what the key may do.'],
    [
      'an unknown expiry',
      [
        ['name', 'x'],
        ['permission', 'upload'],
        ['days', '2'],
      ],
      'Choose when the key expires.',
    ],
  ])('%s: a sentence, and no key', async (_, fields, sentence) => {
    const before = await readFile(join(directory, 'keys.json'), 'utf8');
    const response = await client.post('/profile/keys', fields);
    expect(response.status).toBe(422);
    const page = await response.text();
    expect(page).toContain(sentence);
    expect(page).toContain('<a href="/profile">Go back to the profile page</a>');
    expect(await readFile(join(directory, 'keys.json'), 'utf8')).toBe(before);
  });

  it("the user's name: kept, and what viewer says", async () => {
    expect((await client.post('/profile/name', {name: 'Ada "<b>" Lovelace'})).status).toBe(303);
    expect(await client.textOf('/profile')).toContain('value="Ada &quot;&lt;b&gt;&quot; Lovelace"');
    expect(await query(service, key, '{viewer{name}}')).toEqual({
      data: {viewer: {name: 'Ada "<b>" Lovelace'}},
    });
  });
});

describe('the gallery', () => {
  it('130 media: pages of 60, newest first, each medium once', async () => {
    await uploaded();
    const other = await startedService({dataDirectory: join(directory, 'many')});
    const person = new PageClient(other);
    await person.signIn(other.signInUrl());
    expect(await person.textOf('/')).toContain('Nothing is stored yet.');
    const [first] = (await service.records()).slice(-1);
    const record = JSON.parse(await readFile(join(directory, 'records', `${first?.record.id}.json`), 'utf8'));
    const ids = Array.from({length: 130}, (_, count) => `m_01m8168ds9${String(count).padStart(19, '0')}`);
    for (const id of ids)
      await writeFile(join(directory, 'many/records', `${id}.json`), JSON.stringify({...record, id}));
    const seen: string[] = [];
    let path: string | undefined = '/';
    const lengths: number[] = [];
    while (path !== undefined) {
      const page = await person.textOf(path);
      const here = [...page.matchAll(/<a class="picture" href="\/media\/(m_\w+)"/g)].map(([, id = '']) => id);
      lengths.push(here.length);
      seen.push(...here);
      path = /href="(\/\?after=\w+)"/.exec(page)?.[1];
    }
    expect(lengths).toEqual([60, 60, 10]);
    expect(seen).toEqual(ids.reverse());
  });

  it('a photo: its facts, its URL, a page of its own', async () => {
    const id = await uploaded(await fixture('photo.png'));
    const gallery = await client.textOf('/');
    expect(gallery).toContain('PNG · 640 × 400 · 13.3 KiB');
    expect(gallery).toContain(`data-copy="${service.url}/files/${id}"`);
    const page = await client.textOf(`/media/${id}`);
    expect(page).toContain(`<img src="/files/${id}" alt="PNG · 640 × 400 · 13.3 KiB">`);
    const [record] = (await service.records()).filter(one => one.record.id === id);
    expect(page).toContain(record?.sha256);
  });

  it('a deleted medium: gone from disk, pages and /graphql', async () => {
    const id = await uploaded();
    expect((await client.post(`/media/${id}/delete`, {})).status).toBe(303);
    expect((await fetch(`${service.url}/files/${id}`)).status).toBe(404);
    expect(await namesIn(directory, 'files')).not.toContain(id);
    expect(await namesIn(directory, 'records')).not.toContain(`${id}.json`);
    expect(await query(service, key, `{media(id: "${id}") {id}}`)).toEqual({data: {media: null}});
    expect((await client.get(`/media/${id}`)).status).toBe(404);
    expect((await client.post(`/media/${id}/delete`, {})).status).toBe(404);
  });

  it('a damaged record: named on the page, beside the others', async () => {
    const other = await startedService({dataDirectory: join(directory, 'damaged')});
    const person = new PageClient(other);
    await person.signIn(other.signInUrl());
    const otherKey = await other.createKey();
    const [bad, good] = await Promise.all(
      [1, 2].map(async () => {
        const response = await upload(other, otherKey, png(1, 1));
        return ((await response.json()) as {id: string}).id;
      }),
    );
    await writeFile(join(directory, 'damaged/records', `${bad}.json`), '{');
    const page = await person.textOf('/');
    expect(page).toContain(`damaged</span><code>${bad}</code>`);
    expect(page).toContain(`href="/media/${good}"`);
  });
});

describe('a form that changes something', () => {
  it.each([
    ['of another origin', {Origin: 'http://evil.example'}, undefined],
    ['of another port of this machine', {Origin: 'http://127.0.0.1:1'}, undefined],
    ['of an opaque origin', {Origin: 'null'}, undefined],
    ['without Origin', {Origin: undefined}, undefined],
    ['without the token of a page', {}, ''],
    ['with a wrong token', {}, 'x'.repeat(43)],
  ])('%s: 403, and nothing changes', async (_, headers, token) => {
    const before = await readFile(join(directory, 'keys.json'), 'utf8');
    const id = await uploaded();
    for (const [path, fields] of [
      ['/profile/keys', {name: 'stolen', permission: 'upload'}],
      [`/media/${id}/delete`, {}],
      ['/profile/name', {name: 'stolen'}],
      ['/sign-out', {}],
    ] as const) {
      const given = token === undefined ? fields : {...fields, 'page-token': token};
      const response = await client.post(path, given, headers);
      expect(response.status).toBe(403);
    }
    expect(await readFile(join(directory, 'keys.json'), 'utf8')).toBe(before);
    expect(await namesIn(directory, 'files')).toContain(id);
    expect((await client.get('/')).status).toBe(200);
  });

  it('with the token of another session: 403', async () => {
    const other = new PageClient(service);
    await other.signIn(service.signInUrl());
    const token = await other.pageToken();
    expect((await client.post('/profile/name', {name: 'x', 'page-token': token})).status).toBe(403);
  });

  it('that fails, or whose URL is opened again: an error page that leads back to it', async () => {
    const id = await uploaded();
    for (const [response, status, text] of [
      [client.post(`/media/${id}/delete`, {}, {Origin: undefined}), 403, `href="/media/${id}">Go back`],
      [client.get(`/media/${id}/delete`), 405, `<p>This URL is not a page.</p><p><a href="/media/${id}">`],
      [client.post('/media/m_x/delete', {}), 404, '<a href="/">'],
      [client.post('/profile/keys/x/revoke', {}), 404, 'href="/profile">Go back'],
    ] as const) {
      expect((await response).status).toBe(status);
      expect(await (await response).text()).toContain(text);
    }
  });

  it('of 65 kB, or as JSON: refused', async () => {
    const token = await client.pageToken();
    const long = await client.post('/profile/name', {name: 'n'.repeat(65_536), 'page-token': token});
    expect(long.status).toBe(413);
    const json = await client.post('/profile/name', {name: 'x'}, {'Content-Type': 'application/json'});
    expect(json.status).toBe(415);
  });
});

describe('an error at a URL that is not of a page', () => {
  it.each([
    ['/nope', 404, 'There is nothing at this URL.'],
    ['/files/m_x', 404, 'There is no such file.'],
    ['/v1/media/upload', 405, 'This URL is not a page.'],
  ])('%s: a page for a browser, an error record for a program', async (path, status, text) => {
    const shown = await client.get(path);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(await shown.text()).toContain(text);
    const record = await fetch(service.url + path, {headers: {Accept: '*/*'}});
    expect([record.status, await record.json()]).toEqual([
      status,
      {code: status, message: expect.any(String)},
    ]);
  });
});

describe('every response', () => {
  it('a foreign Host (DNS rebinding): 421, with the cookie too', async () => {
    const {port} = new URL(service.url);
    const headers = {Accept: 'text/html', Cookie: client.cookie};
    expect(await rawStatus('/profile', {...headers, Host: `evil.example:${port}`})).toBe(421);
    expect(await rawStatus('/profile', {...headers, Host: `localhost:${port}`})).toBe(200);
  });

  it.each(['/', '/profile', '/profile/nothing', '/nothing-here', '/files/m_x', '/media/m_x'])(
    '%s: nothing foreign runs in it, frames it or keeps it',
    async path => {
      const {headers} = await client.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; " +
          "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    },
  );

  it.each([
    ['/assets/page.css', 200, 'text/css; charset=utf-8'],
    ['/assets/page.js', 200, 'text/javascript; charset=utf-8'],
    ['/assets/icon.svg', 200, 'image/svg+xml'],
    ['/assets/..%2fkeys.json', 404, undefined],
    ['/assets/constructor', 404, undefined],
    ['/profile/keys', 405, undefined],
    ['/profile/keys/x/rename', 405, undefined],
  ])('GET of %s: %i', async (path, status, contentType) => {
    const response = await client.get(path);
    expect(response.status).toBe(status);
    if (contentType !== undefined) expect(response.headers.get('content-type')).toBe(contentType);
  });
});
