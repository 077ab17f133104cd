import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import axe from 'axe-core';
import type {Browser, Locator, Page} from 'playwright-core';
import {afterAll, describe, expect, it, type TestContext} from 'vitest';
import type {MediaRecord} from '../../../../src/engine/service/record.ts';
import {upload} from '../../../embedded/support.ts';
import {emptySite, openPage, startChromium} from '../../../support/browser.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';
import {serve} from '../../../support/served.ts';
import {onTerminal} from '../../../support/terminal.ts';

const require = createRequire(import.meta.url);

let browser: Browser | undefined;
afterAll(() => browser?.close());

/** A `media serve` whose link Chromium has opened. */
async function signedIn(context: TestContext, ...parameters: string[]) {
  needPrograms(context, ['chromium']);
  browser ??= await startChromium();
  const box = await sandbox();
  const service = await serve(box, '--data-dir', 'kept', ...parameters);
  const link = await eventually(() => /http:\S+\?token=\S+/.exec(service.stderr())?.[0]);
  const {page, problems} = await openPage(browser);
  await page.goto(link);
  await page.waitForURL(`${service.url}/`);
  return {box, ...service, page, problems};
}

/** A number that only the element itself can tell. */
function propertyOf(element: Locator, name: string): Promise<unknown> {
  return element.evaluate((one, property) => Reflect.get(Object(one), property), name);
}

describe('the pages of media serve', () => {
  it(
    "a person's way: a key from the profile page, login, upload, the gallery plays it, revoked",
    slowTest,
    async context => {
      const {box, url, page, problems} = await signedIn(context, '--profile', 'local');
      await page.getByRole('link', {name: 'Profile'}).click();
      await page.getByLabel('Name', {exact: true}).fill('laptop');
      await page.getByRole('button', {name: 'Create key'}).click();
      await page.getByRole('button', {name: 'Copy key'}).click();
      await page.getByRole('button', {name: 'Copied'}).waitFor();
      const key = String(await page.evaluate('navigator.clipboard.readText()'));
      expect(key).toMatch(/^mk_[\w-]{32}$/);
      const login = onTerminal(box, ['login', '--profile', 'local'], {columns: 200});
      await login.shows(`API key for ${url}, from ${url}/profile`);
      login.write(`${key}\r`);
      expect((await login.end).exitCode).toBe(0);

      const upload = ['upload', '--profile', 'local'];
      const {stdout} = await box.run([
        ...upload,
        fixture('photo.png'),
        fixture('clip.mp4'),
        '-c',
        '1',
        '--json',
      ]);
      const [photo, clip] = stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as MediaRecord);
      expect(photo?.thumbnailUrl).toBe(`${url}/thumbnails/${photo?.id}.webp`);
      expect(clip?.hlsUrl).toBe(`${url}/streams/${clip?.id}/index.m3u8`);
      await page.getByRole('link', {name: 'Gallery'}).click();
      const picture = page.getByRole('img', {name: /^PNG · 640 × 400/});
      await expect.poll(() => propertyOf(picture, 'naturalWidth')).toBe(320);
      await page.locator('.picture').first().click();
      const video = page.locator('video');
      await video.evaluate(one => Object.assign(Object(one), {muted: true}).play());
      await expect.poll(() => propertyOf(video, 'ended'), {timeout: patienceMs}).toBe(true);
      expect(await propertyOf(video, 'videoWidth')).toBe(320);
      const playsHls = await video.evaluate(one => Object(one).canPlayType('application/vnd.apple.mpegurl'));
      expect(await propertyOf(video, 'currentSrc')).toBe(playsHls === '' ? clip?.fileUrl : clip?.hlsUrl);

      await page.getByRole('link', {name: 'Profile'}).click();
      const row = page.getByRole('row').filter({hasText: 'laptop'});
      expect(await row.textContent()).toMatch(/UTC by media\//);
      await row.getByRole('button', {name: 'Revoke', exact: true}).click();
      await row.getByRole('button', {name: 'Revoke laptop'}).click();
      await row.waitFor({state: 'detached'});
      const refused = await box.run([...upload, fixture('photo.png')]);
      expect(refused.exitCode).toBe(4);
      expect(refused.stderr).toContain(`create one on the profile page (${url}/profile).`);
      expect(refused.stderr).toContain(
        `Store a valid key (see ${url}/profile): media login --key-stdin --profile local`,
      );
      expect(problems).toEqual([]);
    },
  );

  it(
    'files that are chosen, or dropped on the gallery: stored as they are; what is refused: why, in plain words',
    slowTest,
    async context => {
      const {box, url, page, problems} = await signedIn(context, '--max-size', '1M');
      await page
        .getByLabel(/^Upload images and videos/)
        .setInputFiles([fixture('clip.mp4'), fixture('photo.jpg')]);
      await page.getByText('2 files, newest first.').waitFor();
      const dropped = await readFile(fixture('photo.png'));
      const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${dropped.toString('base64')}'), one => one.charCodeAt(0));
      transfer.items.add(new File([bytes], 'photo.png', {type: 'image/png'}));
      return transfer;
    })()`);
      await page.dispatchEvent('#upload', 'drop', {dataTransfer: transfer});
      await page.getByText('3 files, newest first.').waitFor();
      const ids = await idsOf(page);
      const stored = await Promise.all(ids.map(id => readFile(join(box.directory, 'kept/files', id))));
      const sent = ['photo.png', 'photo.jpg', 'clip.mp4'].map(name => readFile(fixture(name)));
      expect(stored.map(bytes => bytes.toString('base64'))).toEqual(
        (await Promise.all(sent)).map(bytes => bytes.toString('base64')),
      );
      expect(problems).toEqual([]);
      const said = () => page.locator('#uploads p').allTextContents();
      expect(await said()).toEqual(['1 of 1 stored.']);
      await page.goto(`${url}/?after=${ids[0]}`);
      const svgz = gzipSync('<svg xmlns="http://www.w3.org/2000/svg"/>');
      const text = Buffer.from('text');
      await page.getByLabel(/^Upload images and videos/).setInputFiles([
        {name: 'a.txt', mimeType: 'text/plain', buffer: text},
        {name: 'b.svgz', mimeType: 'image/svg+xml', buffer: svgz},
        {name: 'c.unknown', mimeType: '', buffer: text},
        {name: 'd.png', mimeType: 'image/png', buffer: Buffer.alloc(1_500_000)},
        {name: 'e.png', mimeType: 'image/png', buffer: Buffer.alloc(0)},
        {name: 'f.png', mimeType: 'image/png', buffer: dropped},
      ]);
      await page.getByText('4 files, newest first.').waitFor();
      expect(page.url()).toBe(`${url}/`);
      expect(await said()).toEqual([
        'a.txt: not stored. It is not an image or a video.',
        'b.svgz: not stored. It is a gzip archive. Unpack it, and upload the images and videos in it.',
        'c.unknown: not stored. Your browser does not know its type. Upload it with: media upload',
        expect.stringMatching(/^d\.png: not stored. It is too large: a file may have at most 1\.0 MiB\.$/),
        'e.png: not stored. It is empty.',
        '1 of 6 stored.',
      ]);
      await page.getByRole('button', {name: 'Copy URL'}).first().click();
      await page.getByRole('button', {name: 'Copied'}).waitFor();
      expect(await page.locator('.card').count()).toBe(4);
      expect(ids.length).toBe(3);
    },
  );

  it(
    'by keyboard, narrow and wide, dark and light: axe finds nothing, and nothing is cut off',
    slowTest,
    async context => {
      const {url, key, page, problems} = await signedIn(context);
      const photo = Buffer.from(await readFile(fixture('photo.png')));
      const {id} = (await (await upload({url}, key, photo)).json()) as {id: string};
      for (const path of ['/', '/profile', `/media/${id}`, '/profile/nothing', '/nope']) {
        await page.goto(url + path);
        // Evaluated from outside: the page's policy would let no other script in.
        await page.evaluate(axe.source);
        // The style does not choose colours by the width.
        for (const [colorScheme, width] of [
          ['dark', 320],
          ['light', 1600],
        ] as const) {
          await page.setViewportSize({width, height: 800});
          await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
          const found = await page.evaluate('axe.run().then(({violations}) => violations)');
          expect({path, colorScheme, width, found}).toEqual({path, colorScheme, width, found: []});
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          expect({path, width, overflow: Math.max(0, Number(overflow))}).toEqual({path, width, overflow: 0});
        }
      }
      await page.goto(url);
      const reached: string[] = [];
      for (let count = 0; count < 8; count += 1) {
        await page.keyboard.press('Tab');
        reached.push(
          String(await page.evaluate('document.activeElement.id || document.activeElement.textContent')),
        );
      }
      const here = ['Gallery', 'Profile', 'Sign out', 'files', '', 'Copy ID', 'Copy URL', 'Delete'];
      expect(reached.map(text => text.trim())).toEqual(here);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing is stored yet.').waitFor();
      expect(problems.filter(problem => !problem.includes('404'))).toEqual([]);
    },
  );

  it(
    'a page of another origin that is allowed uploads, queries and reads; of one that is not, nothing',
    slowTest,
    async context => {
      needPrograms(context, ['chromium']);
      browser ??= await startChromium();
      const sites = await Promise.all([emptySite(), emptySite()]);
      const {url, key} = await serve(await sandbox(), '--ephemeral', '--allow-origin', sites[0]);
      const photo = (await readFile(fixture('photo.png'))).toString('base64');
      const use = `(async ([url, key, photo]) => {
      const told = ask => ask().catch(error => error.name);
      const bytes = Uint8Array.from(atob(photo), one => one.charCodeAt(0));
      const send = (path, type, body, more) => told(async () => {
        const headers = {Authorization: 'Bearer ' + key, 'Content-Type': type};
        const response = await fetch(url + path, {method: 'POST', headers, body, ...more});
        return {id: response.headers.get('Media-Service-Id'), ...await response.json()};
      });
      const stored = await send('/v1/media/upload', 'image/png', bytes);
      return {
        stored,
        refused: await send('/v1/media/upload', 'text/plain', bytes),
        listed: await send('/graphql', 'application/json', '{"query": "{mediaList {totalCount}}"}'),
        read: await told(async () => (await (await fetch(stored.fileUrl)).arrayBuffer()).byteLength),
        withCookies: await send('/graphql', 'application/json', '{"query": "{__typename}"}', {credentials: 'include'}),
      };
    })`;
      const results: unknown[] = [];
      for (const origin of sites) {
        const {page} = await openPage(browser);
        await page.goto(origin);
        results.push(await page.evaluate(`${use}(${JSON.stringify([url, key, photo])})`));
      }
      const blocked = 'TypeError';
      expect(results).toEqual([
        {
          stored: expect.objectContaining({type: 'IMAGE', width: 640}),
          refused: {id: expect.stringMatching(/^[0-9a-f]{32}$/), code: 415, message: expect.any(String)},
          listed: {id: expect.any(String), data: {mediaList: {totalCount: 1}}},
          ...{read: 13_582, withCookies: blocked},
        },
        {stored: blocked, refused: blocked, listed: blocked, read: expect.anything(), withCookies: blocked},
      ]);
    },
  );

  it(
    'the playlist of a video: the page of the medium plays it, and so does hls.js',
    slowTest,
    async context => {
      const {url, key, page, problems} = await signedIn(context);
      const clip = Buffer.from(await readFile(fixture('clip.mp4')));
      const response = await upload({url}, key, clip, {'Content-Type': 'video/mp4'});
      const {hlsUrl = '', id} = (await response.json()) as MediaRecord;
      await page.goto(`${url}/media/${id}`);
      await expect
        .poll(() => playing(page), {timeout: patienceMs})
        .toEqual({width: 320, seconds: 1, ended: true});
      expect(problems).toEqual([]);

      const site = `${url}/site`;
      await page.route(site, route =>
        route.fulfill({contentType: 'text/html', body: '<video muted></video>'}),
      );
      await page.goto(site);
      await page.addScriptTag({path: require.resolve('hls.js/dist/hls.js')});
      await page.evaluate(`
      globalThis.problems = [];
      const hls = new Hls({preferManagedMediaSource: false});
      hls.on(Hls.Events.ERROR, (_, {details, error}) => problems.push(details + ': ' + error));
      hls.loadSource(${JSON.stringify(hlsUrl)});
      hls.attachMedia(document.querySelector('video'));`);
      await expect
        .poll(() => playing(page), {timeout: patienceMs})
        .toEqual({width: 320, seconds: 1, ended: true});
      expect(await page.evaluate('problems')).toEqual([]);
    },
  );

  it('what others wrote, in every field: shown as text, and nothing of it runs', slowTest, async context => {
    const {url, key, page, problems} = await signedIn(context);
    const pageToken = await page.locator('input[name=page-token]').first().inputValue();
    const send = (path: string, fields: Record<string, string>) =>
      page.request.post(url + path, {
        maxRetries: 2,
        form: {...fields, 'page-token': pageToken},
        headers: {Origin: url},
      });
    const change = async (query: string, variables: Record<string, string>) => {
      const headers = {Authorization: `Bearer ${key}`};
      const response = await page.request.post(`${url}/graphql`, {headers, data: {query, variables}});
      expect(response.headers()['content-type']).toMatch(/^application\/(graphql-response\+)?json/);
      return response.text();
    };
    const sent: {id: string; contentType: string}[] = [];
    for (const payload of payloads) {
      const shown = await (await send('/profile/keys', {name: payload, permission: 'upload'})).text();
      const [, created = ''] = /id="new-key">(mk_[^<]+)</.exec(shown) ?? [];
      const contentType = `image/png; charset="${payload.replace(/["\\]/g, '\\$&')}"`;
      const bytes = Buffer.from(`<!doctype html><script>alert(1)</script>${payload}`);
      const headers = {'Content-Type': contentType, 'User-Agent': payload};
      const response = await upload({url}, created, bytes, headers);
      sent.push({...((await response.json()) as {id: string}), contentType});
    }
    const variables = Object.fromEntries(
      payloads.map((payload, index) => [`n${index}`, `GraphQL ${payload}`]),
    );
    const declared = Object.keys(variables).map(name => `$${name}: String!`);
    const created = Object.keys(variables).map(
      name => `${name}: createApiKey(name: $${name}, permissions: [READ]) {key}`,
    );
    await change(`mutation(${declared}) {${created}}`, variables);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
    const asSvg = await upload({url}, key, Buffer.from(svg), {'Content-Type': 'image/svg+xml'});
    const {id: svgId} = (await asSvg.json()) as {id: string};
    // A browser downloads an SVG instead of showing it, and shows HTML that calls itself an image as a broken image.
    await expect(page.goto(`${url}/files/${svgId}`)).rejects.toThrow(/Download/);
    await page.goto(`${url}/files/${sent[0]?.id}`);
    await page.goto(`${url}/media/${svgId}`);
    for (const {id, contentType} of sent.filter((_, index) => index % 4 === 0)) {
      await page.goto(`${url}/media/${id}`);
      expect(await page.locator('main dl').textContent()).toContain(contentType);
    }
    await page.goto(`${url}/`);
    expect(await idsOf(page)).toEqual([svgId, ...sent.map(({id}) => id).reverse()]);
    const saved = [
      (name: string) => send('/profile/name', {name}),
      (name: string) => change('mutation($name: String!) {updateProfile(name: $name) {name}}', {name}),
    ];
    const some = payloads.filter((_, index) => index % 4 === 1);
    for (const [index, payload] of some.entries()) {
      await saved[index % 2]?.(payload);
      await change('query($id: ID!) {media(id: $id) {id}}', {id: payload});
      await change(`{${payload}}`, {});
      await page.goto(`${url}/profile`);
      expect(await page.getByLabel('Your name').inputValue()).toBe(payload);
    }
    const names = await page.getByRole('rowheader').allTextContents();
    expect(names).toEqual(['serve', ...payloads, ...Object.values(variables)]);
    const keys = (await page.locator('.keys').textContent()) ?? '';
    for (const payload of payloads) expect(keys).toContain(`by ${payload}`);
    for (const payload of payloads.slice(0, 3))
      await page.goto(`${url}/?after=${encodeURIComponent(payload)}`);
    expect(problems.filter(problem => problem.startsWith('dialog'))).toEqual([]);
  });
});

/** The IDs of the files on the gallery, in its order. */
async function idsOf(page: Page): Promise<string[]> {
  const links = await page.locator('a.picture').evaluateAll(all => all.map(one => String(one)));
  return links.map(link => link.replace(/.*\//, ''));
}

/** How the video of a page has played; starts it. */
function playing(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const video = document.querySelector('video');
    video.muted = true;
    if (video.paused && !video.ended) video.play().catch(() => {});
    return {width: video.videoWidth, seconds: Math.round(video.duration), ended: video.ended};
  })()`);
}

/** Texts that run where a page puts them into its source as they are: in text, attributes, links, styles and scripts. */
const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</title><script>alert(1)</script>',
  '</code></dd></dl><script src="/files/x"></script>',
  '</textarea></select><script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)&#60;/script&#62;',
  '" autofocus onfocus="alert(1)',
  "' onmouseover='alert(1)' x='",
  '`onload=alert(1)`',
  'javascript:alert(1)//',
  'data:text/html,<script>alert(1)</script>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<base href="http://evil.example/">',
  '<form action="http://evil.example/"><button>Save</button></form>',
  '<style>@import "http://evil.example/x.css";</style>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '{{alert(1)}}{{constructor.constructor("alert(1)")()}}',
  '<!--><script>alert(1)</script-->',
  '<x onclick=alert(1) tabindex=1 id=new-key>x',
  '%3Cscript%3Ealert(1)%3C/script%3E',
];
