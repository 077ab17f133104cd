import {countText, formatBytes} from '../../lib/units.ts';
import type {PlainResponse} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {ignoreDamage} from '../state/state.ts';
import {mediaRecord, type StoredRecord} from '../state/stored-record.ts';
import {type Html, html, type PageRequest, pageWith, queryOf, tokenField} from './page.ts';

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
      <ul class="cards">${cards}</ul>
      <p class="turn">
        ${after === null ? undefined : html`<a href="/">Newest</a>`}
        ${last !== undefined && rest.length > here.length ? html`<a href="/?after=${last}" rel="next">Older</a>` : undefined}
      </p>
    </div>`;
  return pageWith(content, exchange, {title: 'Gallery', pageToken: session.pageToken});
}

function uploadForm(key: string, maxSize: number): Html {
  const largest = Number.isFinite(maxSize) ? formatBytes(maxSize) : '';
  return html`
    <form id="upload" class="box" data-upload-key="${key}" data-largest="${largest}">
      <label for="files">Upload images and videos: choose them, or drop them here</label>
      <input id="files" type="file" multiple accept="image/*,video/*">
      <ul id="uploads" role="status"></ul>
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
    return html`<li class="card"><span class="no-picture">damaged</span><code>${id}</code></li>`;
  }
  if (record === undefined) return undefined;
  const {fileUrl} = mediaRecord(record, service.publicUrl());
  return html`
      <li class="card">
        <a class="picture" href="/media/${id}">${preview(record)}</a>
        <span>${factsText(record)}</span>
        <code>${id}</code>
        <div class="actions">
          ${copyButton(fileUrl ?? '', 'Copy URL')}
          ${deleteForm(id, session.pageToken)}
        </div>
      </li>`;
}

/** A button that copies a text. The script makes it visible. */
export function copyButton(text: string, name: string): Html {
  return html`<button type="button" data-copy="${text}" hidden>${name}</button>`;
}

/** A form that deletes a medium after a confirmation. */
function deleteForm(id: string, pageToken: string): Html {
  return html`<details>
            <summary>Delete</summary>
            <form method="post" action="/media/${id}/delete">${tokenField(pageToken)}<button class="danger">Delete permanently</button></form>
          </details>`;
}

/** GET of /media/ID: a medium and its record. */
export async function mediaPage(
  {exchange, service, session}: PageRequest,
  id: string,
): Promise<PlainResponse> {
  const record = await requireRecord(service.store.find(id));
  const {urls: _, ...fields} = mediaRecord(record, service.publicUrl());
  const rows = Object.entries({...fields, contentType: record.contentType, sha256: record.sha256});
  const content = html`
    <div class="whole">${wholeMedium(record)}</div>
    <dl class="box">
      ${rows.map(([name, value]) => {
        const text = String(value);
        const copy = /^id$|Url$/.test(name) ? copyButton(text, 'Copy') : undefined;
        return html`<div><dt>${name}</dt><dd><code>${text}</code> ${copy}</dd></div>`;
      })}
      <div><dt>stored</dt><dd>${timeText(record.createdAt)}</dd></div>
    </dl>
    <div class="actions"><a href="/files/${id}">Open the file</a> ${deleteForm(id, session.pageToken)}</div>`;
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
  if (!record.thumbnail && !isSmall) return html`<span class="no-picture">${formatText(record)}</span>`;
  const source = record.thumbnail ? `/thumbnails/${record.id}.webp` : `/files/${record.id}`;
  return html`<img src="${source}" alt="${factsText(record)}" loading="lazy" decoding="async">`;
}

/** The medium itself, scaled to fit. */
function wholeMedium(record: StoredRecord): Html {
  const source = `/files/${record.id}`;
  if (record.type === 'VIDEO') return player(record, source);
  if (browserImage.test(record.contentType)) return html`<img src="${source}" alt="${factsText(record)}">`;
  return html`<p><span class="no-picture">${formatText(record)}</span> Browsers cannot show this format.</p>`;
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
