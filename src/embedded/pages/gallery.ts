import {countText, formatBytes} from '../../lib/units.ts';
import type {PlainResponse} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {ignoreDamage} from '../state/state.ts';
import {mediaRecord, type StoredRecord} from '../state/stored-record.ts';
import {
  copyButton,
  type Html,
  html,
  type PageRequest,
  pageWith,
  popover,
  queryOf,
  tokenField,
} from './page.ts';

const pageLength = 60;

/** GET /: all media, newest first; `?after=ID` continues after a medium. */
export async function gallery(page: PageRequest): Promise<PlainResponse> {
  const {exchange, service, session} = page;
  const after = queryOf(exchange).get('after');
  const ids = (await service.store.ids()).reverse();
  const rest = after === null ? ids : ids.filter(id => id < after);
  const here = rest.slice(0, pageLength);
  const cards = await Promise.all(here.map(id => card(page, id)));
  const last = here.at(-1);
  const total = countText(ids.length, 'file');
  session.uploadKey ??= await service.keys.create({permissions: ['upload'], label: 'pages', persist: false});
  const content = html`
    ${uploadForm(session.uploadKey, service.maxSize)}
    <div id="stored">
      <p>${ids.length === 0 ? 'Nothing is stored yet.' : `${total}, newest first.`}</p>
      <div class="cards">${cards}</div>
      <p>
        ${after === null ? undefined : html`<a href="/">Newest</a>`}
        ${last !== undefined && rest.length > here.length ? html`<a href="/?after=${last}" rel="next">Older</a>` : undefined}
      </p>
    </div>`;
  return pageWith(content, exchange, {title: 'Gallery', pageToken: session.pageToken});
}

function uploadForm(key: string, maxSize: number): Html {
  const largest = Number.isFinite(maxSize) ? formatBytes(maxSize) : '';
  return html`
    <form id="upload" data-upload-key="${key}" data-largest="${largest}">
      <label for="files">Upload images and videos: drop them here, or choose them
        <input id="files" type="file" multiple accept="image/*,video/*">
      </label>
      <progress value="0" aria-label="Progress of the upload" hidden></progress>
      <div id="uploads" role="status"></div>
      <noscript>Uploading from this page needs JavaScript; <code>media upload</code> does not.</noscript>
    </form>`;
}

/** A file in the gallery; nothing if it was deleted meanwhile, and a note if its record is damaged. */
async function card({service, session}: PageRequest, id: string): Promise<Html | undefined> {
  let record: StoredRecord | undefined;
  try {
    record = await service.store.find(id);
  } catch (error) {
    ignoreDamage(error);
    service.observer.onError(error);
    return html`<figure class="card"><span class="picture">damaged</span><code>${id}</code></figure>`;
  }
  if (record === undefined) return undefined;
  const {fileUrl} = mediaRecord(record, service.publicUrl());
  return html`
      <figure class="card">
        <a class="picture" href="/media/${id}">${preview(record)}</a>
        <figcaption>${factsText(record)}<br>${timeText(record.createdAt)} ${copyButton(id, 'Copy ID')}</figcaption>
        <div class="actions">
          ${copyButton(fileUrl ?? '', 'Copy URL')}
          ${deleteForm(record, session.pageToken)}
        </div>
      </figure>`;
}

/** A button that deletes a file after a confirmation. */
function deleteForm(record: StoredRecord, pageToken: string): Html {
  const {id} = record;
  return popover(
    `delete-${id}`,
    'Delete',
    html`<form method="post" action="/media/${id}/delete">
            ${tokenField(pageToken)}<p>Delete ${factsText(record)}?</p><button class="danger">Delete permanently</button>
          </form>`,
  );
}

/** GET of /media/ID: a medium and its record. */
export async function mediaPage(
  {exchange, service, session}: PageRequest,
  id: string,
): Promise<PlainResponse> {
  const record = await requireRecord(service.store.find(id));
  const {fileUrl, urls: _, ...fields} = mediaRecord(record, service.publicUrl());
  const {contentType, sha256, createdAt} = record;
  const rows = Object.entries({fileUrl, ...fields, contentType, sha256, createdAt});
  const content = html`
    <div class="whole">${wholeMedium(record)}</div>
    <dl>${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt><dd><code>${String(value)}</code> ${copyButton(String(value), 'Copy')}</dd>`,
    )}</dl>
    <div class="actions"><a href="/files/${id}">Open the file</a> ${deleteForm(record, session.pageToken)}</div>`;
  return pageWith(content, exchange, {title: factsText(record), pageToken: session.pageToken});
}

export async function deleteMedium({service}: PageRequest, id: string): Promise<void> {
  await service.store.remove([(await requireRecord(service.store.find(id))).id]);
}

async function requireRecord(finding: Promise<StoredRecord | undefined>): Promise<StoredRecord> {
  const record = await finding;
  if (record === undefined) throw new Refusal(404, 'This file does not exist. It may have been deleted.');
  return record;
}

/** Formats that all current browsers show. */
const browserImage = /^image\/(?:png|apng|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)\b/;

/** Larger images are not used as their own preview, in bytes. */
const largestOriginal = 2_000_000;

/** A preview of a medium: its thumbnail, the image itself if it is small, or the name of its format. */
function preview(record: StoredRecord): Html {
  const isSmall = browserImage.test(record.contentType) && record.size <= largestOriginal;
  if (!record.thumbnail && !isSmall) return html`${formatText(record)}`;
  const source = record.thumbnail ? `/thumbnails/${record.id}.webp` : `/files/${record.id}`;
  return html`<img src="${source}" alt="${factsText(record)}" loading="lazy" decoding="async">`;
}

/** The medium itself, scaled to fit. */
function wholeMedium(record: StoredRecord): Html {
  const source = `/files/${record.id}`;
  if (record.type === 'VIDEO') return player(record, source);
  if (browserImage.test(record.contentType)) return html`<img src="${source}" alt="${factsText(record)}">`;
  return html`<p>${formatText(record)}: browsers cannot show this format.</p>`;
}

/** A player that takes the first source which the browser can play: not every one plays HLS without a script. */
function player({id, contentType, thumbnail, stream}: StoredRecord, source: string): Html {
  const poster = thumbnail && html` poster="/thumbnails/${id}.webp"`;
  return html`<video controls preload="metadata"${poster}>
      ${stream && html`<source src="/streams/${id}/index.m3u8" type="application/vnd.apple.mpegurl">`}
      <source src="${source}" type="${contentType}">
      <source src="${source}">
    </video>`;
}

/** A duration as video players show it, such as 0:02 or 1:02:03. */
function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = `${String(whole % 60).padStart(2, '0')}`;
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}

/** A point in time, to the minute. */
export function timeText(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** The format of a medium: PNG, MP4. */
function formatText({imageType, contentType}: StoredRecord): string {
  const subtype = /^[^/]*\/(?:x-)?([^;+]*)/.exec(contentType)?.[1] ?? '';
  return (imageType ?? subtype).toUpperCase();
}

/** A summary of a medium, such as PNG · 640 × 480 · 0:02 · 13.3 KiB. */
function factsText(record: StoredRecord): string {
  const {width, height, duration, size} = record;
  const pixels = width === undefined || height === undefined ? [] : [`${width} × ${height}`];
  const length = duration === undefined ? [] : [durationText(duration)];
  return [formatText(record), ...pixels, ...length, formatBytes(size)].join(' · ');
}
