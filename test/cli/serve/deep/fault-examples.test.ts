import {readFile} from 'node:fs/promises';
import type {Page} from 'playwright-core';
import {expect, it, onTestFinished} from 'vitest';
import {query} from '../../../embedded/support.ts';
import {emptySite, openPage, startChromium} from '../../../support/browser.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';
import {serve} from '../../../support/served.ts';

/**
 * By the parts of faults in the table of docs/faults.md: a fault, how `media upload` of two files ends for each and as
 * a whole, and what two requests of a page get.
 */
const examples: Record<string, readonly [fault: string, uploads: string, fetches: string]> = {
  nth: ['status=503,nth=2', 'uploaded, service_unavailable: 3', '200 8, 503 503'],
  rate: ['status=503,rate=0.5', 'service_unavailable, service_unavailable: 1', '503 503, 503 503'],
  seed: ['status=503,rate=0.5,seed=3', 'uploaded, service_unavailable: 3', '200 8, 503 503'],
  'instead-of': ['status=404,instead-of=403', 'not_found, not_tried: 4', '404 404, 404 404'],
  'after=head': ['status=503,after=head', 'service_unavailable, service_unavailable: 1', '503 503, 503 503'],
  'after=body': ['status=503,after=store', 'service_unavailable, service_unavailable: 1', '503 503, 503 503'],
  status: ['status=429', 'rate_limited, rate_limited: 1', '429 429, 429 429'],
  'record=no': [
    'status=502,record=no',
    'outcome_unknown, outage: 5',
    '502 <!doctype html>, 502 <!doctype html>',
  ],
  'retry-after': [
    'status=503,retry-after=5',
    'service_unavailable, service_unavailable: 1',
    '503 503 5, 503 503 5',
  ],
  latency: ['latency=10m', 'outcome_unknown, outage: 5', 'TimeoutError, TimeoutError'],
  bandwidth: ['bandwidth=4', 'outcome_unknown, outcome_unknown: 5', 'TimeoutError, TimeoutError'],
  reset: ['reset', 'outcome_unknown, outage: 5', 'TypeError, TypeError'],
  silence: ['silence', 'outcome_unknown, outage: 5', 'TimeoutError, TimeoutError'],
  cut: ['cut', 'outcome_unknown, outcome_unknown: 5', 'TypeError, TypeError'],
  wrong: ['wrong=size', 'uploaded, uploaded: 0', '200 9, 200 9'],
};

/** What `fetch` of a page gets for an upload: the status, and what else it may read of the response. */
function fetchIn(page: Page, url: string, key: string, waitMs: number): Promise<string> {
  return page.evaluate(
    async ({url, key, waitMs}) => {
      const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png'};
      const body = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
      try {
        const request = {method: 'POST', headers, body, signal: AbortSignal.timeout(waitMs)};
        const response = await fetch(`${url}/v1/media/upload`, request);
        const text = await response.text();
        const record = text.startsWith('{') ? JSON.parse(text) : {code: text.slice(0, 15)};
        const wait = response.headers.get('retry-after');
        return [response.status, record.code, record.size, wait].filter(one => one != null).join(' ');
      } catch (error) {
        return (error as Error).name;
      }
    },
    {url, key, waitMs},
  );
}

it(
  'each part of a fault in docs/faults.md: by media upload, and by fetch of a page',
  slowTest,
  async context => {
    needPrograms(context, ['chromium']);
    const document = await readFile(new URL('../../../../docs/faults.md', import.meta.url), 'utf8');
    const rows = [...document.matchAll(/^\| `([a-z][a-z-]*(?:=(?:head|body|no))?)/gm)].map(
      ([, part]) => part,
    );
    expect(rows).toEqual(Object.keys(examples));

    const origin = await emptySite();
    const box = await sandbox();
    const service = await serve(box, '--ephemeral', '--fault-port', '0', '--allow-origin', origin);
    const {MEDIA_FAULTS_URL: faultsUrl = '', MEDIA_FAULTS_KEY: faultsKey} = service.variables;
    const reader = await query<{createApiKey: {key: string}}>(
      service,
      service.key,
      'mutation {createApiKey(name: "reader", permissions: [READ]) {key}}',
    );
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const {page} = await openPage(browser);
    await page.goto(origin);
    const put = (fault: string) => {
      const headers = {Authorization: `Bearer ${faultsKey}`};
      const body = JSON.stringify({faults: [`upload:${fault}`]});
      return fetch(faultsUrl, {method: 'PUT', headers, body});
    };
    const command = [
      'upload',
      fixture('photo.png'),
      fixture('photo.gif'),
      '-c',
      '1',
      '--ndjson',
      '--retries',
      '0',
    ];
    const limits = ['--on-unknown', 'hold', '--retry-max-wait', '1s', '--no-once'];
    const seen: typeof examples = {};
    for (const [part, [fault]] of Object.entries(examples)) {
      const key = part === 'instead-of' ? String(reader.data?.createApiKey.key) : service.key;
      const waitMs = ['latency', 'bandwidth', 'silence'].includes(part) ? 1_000 : patienceMs;
      await put(fault);
      const env = {...service.env, MEDIA_API_KEY: key};
      const run = await box.run([...command, ...limits, '--timeout', `${waitMs}ms`], {env});
      const lines = run.stdout.split('\n').filter(line => line !== '');
      const ends = lines.map(line => JSON.parse(line)).map(({status, error}) => error?.code ?? status);
      await put(fault);
      const ask = () => fetchIn(page, service.url, key, waitMs);
      const fetches = [await ask(), await ask()];
      seen[part] = [fault, `${ends.join(', ')}: ${run.exitCode}`, fetches.join(', ')];
    }
    expect(seen).toEqual(examples);
  },
);
