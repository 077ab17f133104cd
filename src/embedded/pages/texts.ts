import type {StoredRecord} from '../store/stored-record.ts';
import {type Html, html} from './html.ts';

/** A file size in readable form, such as 13.6 kB. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** A duration as video players show it, such as 0:02 or 1:02:03. */
export function durationText(seconds: number): string {
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
export function formatText({imageType, contentType}: StoredRecord): string {
  const subtype = /^[^/]*\/(?:x-)?([^;+]*)/.exec(contentType)?.[1] ?? '';
  return (imageType ?? subtype).toUpperCase();
}

/** A summary of a medium, such as PNG · 640 × 480 · 0:02 · 13.6 kB. */
export function factsText(record: StoredRecord): string {
  const {width, height, duration, size} = record;
  const pixels = width === undefined || height === undefined ? [] : [`${width} × ${height}`];
  const length = duration === undefined ? [] : [durationText(duration)];
  return [formatText(record), ...pixels, ...length, sizeText(size)].join(' · ');
}
