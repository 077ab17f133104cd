import {type Browser, chromium, type Page} from 'playwright-core';
import {pathOf} from './installed.ts';

/** Starts Chromium; whoever asks closes it. */
export function startChromium(): Promise<Browser> {
  const executablePath = pathOf('chromium');
  if (executablePath === undefined) throw new Error('There is no Chromium on PATH.');
  // Its sandbox does not start as root, which tests in containers run as; it only opens pages of our own.
  return chromium.launch({executablePath, args: ['--no-sandbox']});
}

/** A page with a clipboard, and all that went wrong in it: errors of scripts, and what its policy kept out. */
export async function openPage(browser: Browser): Promise<{page: Page; problems: string[]}> {
  const context = await browser.newContext({permissions: ['clipboard-read', 'clipboard-write']});
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
