import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {bridge} from '../../../support/bridge.ts';
import {openPage, startChromium} from '../../../support/browser.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';

test(
  'a web page in Chromium that tries to have /etc/hostname and a picture uploaded: refused, it learns nothing',
  slowTest,
  async context => {
    needPrograms(context, ['chromium']);
    const {sandbox: box, service} = await connectedSandbox();
    const {url, base, stderr} = await bridge(box);
    const site = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<title>evil</title>'),
    );
    onTestFinished(() => void site.close());
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const {page} = await openPage(browser);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const attack = `(async ([url, list]) => {
    const body = JSON.stringify({list});
    const results = [];
    for (const options of [{mode: 'no-cors'}, {mode: 'cors'}, {headers: {'Content-Type': 'application/json'}}])
      results.push(await fetch(url, {method: 'POST', body, ...options}).then(a => a.text(), () => 'nothing'));
    navigator.sendBeacon(url, body);
    const form = document.createElement('form');
    Object.assign(form, {method: 'post', action: url, enctype: 'text/plain', target: 'answer'});
    const input = Object.assign(document.createElement('input'), {name: body.slice(0, -1) + ',"x":"', value: '"}'});
    const frame = Object.assign(document.createElement('iframe'), {name: 'answer'});
    form.append(input);
    document.body.append(form, frame);
    form.submit();
    return results;
  })`;
    const list = ['/etc/hostname', fixture('photo.png')];
    const learnt = await page.evaluate(`${attack}(${JSON.stringify([url, list])})`);
    expect(learnt).toEqual(['', 'nothing', 'nothing']);
    const refused = () => stderr().match(/Refused a request: Web pages may not upload files/g)?.length ?? 0;
    await eventually(() => refused() >= 5);
    await page.goto(`${base}/upload`);
    expect(await page.textContent('body')).toContain('must be POST');
    expect(await service.records()).toEqual([]);
  },
);
