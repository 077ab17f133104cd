import type {StoredRecord} from '../store/store.ts';
import {type Html, html} from './html.ts';
import {factsText, formatText} from './texts.ts';

/** What every browser of today shows. */
const shown = /^image\/(?:png|apng|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)\b/;

/** A larger image is not loaded for a small picture of it. */
const largestOriginal = 2_000_000;

/** A small picture of a medium: its thumbnail, or the image itself if it is small, or else its format in words. */
export function preview(record: StoredRecord): Html {
  if (record.thumbnail) {
    return html`<img src="/thumbnails/${record.id}.webp" alt="${factsText(record)}" loading="lazy" decoding="async">`;
  }
  if (isShown(record) && record.size <= largestOriginal) {
    return html`<img src="/files/${record.id}" alt="${factsText(record)}" loading="lazy" decoding="async">`;
  }
  return html`<span class="no-picture">${formatText(record)}</span>`;
}

/** The medium itself, as large as it fits. */
export function wholeMedium(record: StoredRecord): Html {
  const source = `/files/${record.id}`;
  if (record.type === 'VIDEO') return html`<video controls preload="metadata" src="${source}"></video>`;
  if (isShown(record)) return html`<img src="${source}" alt="${factsText(record)}">`;
  return html`<p><span class="no-picture">${formatText(record)}</span> Browsers do not show this format.</p>`;
}

function isShown({contentType}: StoredRecord): boolean {
  return shown.test(contentType);
}
