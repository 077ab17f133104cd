import type {StoredRecord} from '../store/stored-record.ts';
import {type Html, html} from './html.ts';
import {factsText, formatText} from './texts.ts';

/** Formats that all current browsers show. */
const shown = /^image\/(?:png|apng|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)\b/;

/** Larger images are not used as their own preview, in bytes. */
const largestOriginal = 2_000_000;

/** A preview of a medium: its thumbnail, the image itself if it is small, or the name of its format. */
export function preview(record: StoredRecord): Html {
  if (record.thumbnail) {
    return html`<img src="/thumbnails/${record.id}.webp" alt="${factsText(record)}" loading="lazy" decoding="async">`;
  }
  if (isShown(record) && record.size <= largestOriginal) {
    return html`<img src="/files/${record.id}" alt="${factsText(record)}" loading="lazy" decoding="async">`;
  }
  return html`<span class="no-picture">${formatText(record)}</span>`;
}

/** The medium itself, scaled to fit. */
export function wholeMedium(record: StoredRecord): Html {
  const source = `/files/${record.id}`;
  if (record.type === 'VIDEO') return player(record, source);
  if (isShown(record)) return html`<img src="${source}" alt="${factsText(record)}">`;
  return html`<p><span class="no-picture">${formatText(record)}</span> Browsers do not show this format.</p>`;
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

function isShown({contentType}: StoredRecord): boolean {
  return shown.test(contentType);
}
