// Photographs the pages of the embedded service for the README: a gallery, and a profile page with a key. Needs Debian's
// Chromium. The directory to put the pictures into may be named.
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import sharp from 'sharp';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [directory = join(root, '.github/pictures')] = process.argv.slice(2);
const files = {
  'photo.webp': 'image/webp',
  'clip.webm': 'video/webm',
  'animated.gif': 'image/gif',
  'photo.tiff': 'image/tiff',
  'clip.mp4': 'video/mp4',
  'photo.png': 'image/png',
};

const home = mkdtempSync(join(tmpdir(), 'media-screenshots-'));
const service = spawn(process.execPath, [join(root, 'bin/media.js'), 'serve', '--port', '0', '--ephemeral'], {
  env: {PATH: process.env.PATH, HOME: home, TMPDIR: home},
  stdio: ['ignore', 'pipe', 'pipe'],
});
const executablePath = execFileSync('sh', ['-c', 'command -v chromium'], {encoding: 'utf8'}).trim();
// Chromium's sandbox does not start as root, as in containers; only pages of our own are opened.
const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
try {
  const [, url] = await printed(service.stdout, /^MEDIA_BASE_URL=(.*)$/m);
  const [, key] = await printed(service.stdout, /^MEDIA_API_KEY=(.*)\n/m);
  for (const [name, contentType] of Object.entries(files)) {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': contentType,
      'User-Agent': 'media/0.1.0',
    };
    const body = readFileSync(join(root, 'test/fixtures', name));
    const response = await fetch(`${url}/v1/media/upload`, {method: 'POST', headers, body});
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
  }
  const page = await browser.newPage({viewport: {width: 960, height: 640}, colorScheme: 'light'});
  const [link] = await printed(service.stderr, /http:\S+\?token=\S+(?= )/);
  await page.goto(link);
  await page.waitForURL(`${url}/`);
  await page.waitForLoadState('networkidle');
  await picture(page, 'gallery');
  await page.goto(`${url}/profile`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByRole('button', {name: 'Save'}).click();
  await page.getByLabel('Name', {exact: true}).fill('laptop');
  await page.getByRole('button', {name: 'Create key'}).click();
  // The new key is shown once.
  await page.goto(`${url}/profile`);
  await picture(page, 'profile');
} finally {
  await browser.close();
  service.once('exit', () => rmSync(home, {recursive: true, force: true}));
  service.kill('SIGTERM');
}

/** What a stream has printed so far or prints next, as a pattern finds it. */
async function printed(stream, pattern) {
  stream.setEncoding('utf8');
  stream.text ??= '';
  while (!pattern.test(stream.text)) {
    const chunk = stream.read();
    if (chunk !== null) stream.text += chunk;
    else if (stream.readableEnded) throw new Error('The service ended.');
    else await once(stream, 'readable');
  }
  return pattern.exec(stream.text);
}

async function picture(page, name) {
  mkdirSync(directory, {recursive: true});
  await sharp(await page.screenshot())
    .png({palette: true, colours: 128, effort: 10})
    .toFile(join(directory, `${name}.png`));
}
