import {createServer} from 'node:http';
import {type Browser, chromium, type Page} from 'playwright-core';
import {pathOf} from './installed.ts';
import {listen, urlOf} from './loopback.ts';
import {patienceMs} from './patience.ts';

/** Starts Chromium; the caller closes it. */
export function startChromium(): Promise<Browser> {
  const executablePath = pathOf('chromium');
  if (executablePath === undefined) throw new Error('There is no Chromium on PATH.');
  // Chromium's sandbox does not start as root, as in containers; the tests only open pages of our own.
  return chromium.launch({executablePath, args: ['--no-sandbox'], timeout: patienceMs});
}

/** A page with a clipboard, and all its problems: errors of scripts, and violations of its content policy. */
export async function openPage(browser: Browser): Promise<{page: Page; problems: string[]}> {
  const context = await browser.newContext({permissions: ['clipboard-read', 'clipboard-write']});
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', error => problems.push(error.message));
  page.on('dialog', async dialog => {
    problems.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  return {page, problems};
}

/** The origin of a web site with an empty page. */
export async function emptySite(): Promise<string> {
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<title>'),
  );
  await listen(server);
  return urlOf(server);
}
