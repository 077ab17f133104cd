import {cellsOf, cutEnd, cutMiddle} from '../cells.ts';
import {printable} from '../escape.ts';
import {formatBytes, formatDuration} from '../units.ts';
import type {FileInFlight, Standing} from './meter.ts';
import {filesText, standingBar, standingPercent, standingTexts} from './meter.ts';

/** Cells that a name keeps, or a third of the line where that is more. */
const narrowestName = 12;
const widestBar = 40;

/** What became of the files so far: as the summary has it, and shorter ones for narrow terminals. */
export type Counts = readonly string[];

/** The lines for a whole batch, in at most so many cells each: percentage and counts stay longest. */
export function batchLines(standing: Standing, counts: Counts, room: number): string[] {
  const percent = standingPercent(standing);
  const texts = standingTexts(standing);
  const [full = ''] = texts;
  const bar = standingBar(standing, Math.min(widestBar, room - cellsOf(full) - 2));
  const shorter =
    percent === undefined ? texts : [...texts.map(text => `${percent}%  ${text}`), `${percent}%`];
  const files = filesText(standing);
  return [
    longestFitting(bar === '' ? shorter : [`${bar}  ${full}`], room),
    `  ${longestFitting([...counts.map(text => `${files}: ${text}`), files], room - 2)}`,
  ];
}

/** A file in flight in at most so many cells: its name and percentage stay longest, the time left and the rate go first. */
export function fileLine(file: FileInFlight, now: number, room: number): string {
  const name = printable(file.name);
  const forName = Math.min(cellsOf(name), Math.max(narrowestName, Math.floor(room / 3)));
  const text = longestFitting(fileTexts(file, now, room - forName - 2), room - forName - 2);
  return cutEnd(`${cutMiddle(name, Math.max(0, room - cellsOf(text) - 2))}  ${text}`, room);
}

function fileTexts({size, sent, start, waiting}: FileInFlight, now: number, room: number): string[] {
  if (waiting === undefined) return progressTexts(size, sent, now - start);
  const seconds = Math.ceil((waiting.until - now) / 1000);
  const when = seconds > 0 ? `next try in ${seconds} s` : 'trying again';
  return [cutEnd(`${when}: ${printable(waiting.why)}`, Math.max(room, when.length + 12)), when];
}

/** How far an upload is: percent, bytes, rate, and the time that is left at that rate; then the same ever shorter. */
export function progressTexts(size: number, sent: number, elapsedMs: number): string[] {
  if (sent >= size)
    return [`${formatBytes(size)} sent, waiting for the response`, '100%  waiting for the response', '100%'];
  const percent = `${Math.floor((100 * sent) / size)}%`;
  const share = `${percent}  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return [share, percent];
  const rate = sent / (elapsedMs / 1000);
  const pace = `${share}  ${formatBytes(rate)}/s`;
  return [`${pace}  ${formatDuration((size - sent) / rate)} left`, pace, share, percent];
}

/** The first text that fits, or the last one cut. */
function longestFitting(texts: readonly string[], room: number): string {
  return texts.find(text => cellsOf(text) <= room) ?? cutEnd(texts.at(-1) ?? '', room);
}
