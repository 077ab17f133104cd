import {mkdir, rm, writeFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {temporaryDirectory} from '../../support/media.ts';
import {exiftool} from './exiftool.ts';
import {isDerivedTag, isLocationTag} from './location-tags.ts';

/** A file as it is, and as it is sent. */
export interface Pair {
  readonly name: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

interface Verdict {
  /** Files of which exiftool finds a location before. */
  readonly located: number;
  readonly broken: readonly string[];
}

/** Asks exiftool whether a location is left, and whether all other tags are as they were. */
export async function judge(pairs: readonly Pair[]): Promise<Verdict> {
  const directory = await temporaryDirectory();
  const numbered = pairs.map((pair, index) => ({...pair, file: `${index}-${basename(pair.name)}`}));
  for (const side of ['before', 'after'] as const) {
    await mkdir(join(directory, side));
    for (const pair of numbered) await writeFile(join(directory, side, pair.file), pair[side]);
  }
  const [before, after] = [await tagsIn(join(directory, 'before')), await tagsIn(join(directory, 'after'))];
  await rm(directory, {recursive: true});
  let located = 0;
  const broken = numbered.flatMap(({name, file}) => {
    const [old, now] = [before.get(file) ?? [], after.get(file) ?? []];
    if (old.some(line => hasLocation(line) || isTakenOut(line))) located += 1;
    return [
      ...now.filter(hasLocation).map(line => `${name}: still ${line}`),
      ...missing(others(old), others(now)).map(line => `${name}: no longer ${line}`),
      ...missing(others(now), others(old)).map(line => `${name}: new ${line}`),
    ];
  });
  return {located, broken};
}

/** The tags of the files in a directory, a line each, by the files' names. */
async function tagsIn(directory: string): Promise<Map<string, string[]>> {
  const listed = await exiftool('-ee3', '-G1:2', '-a', '-s', '-u', '-n', '-m', directory);
  const tags = new Map<string, string[]>();
  for (const section of listed.split(/^======== /m).slice(1)) {
    const [path = '', ...lines] = section.split('\n');
    tags.set(
      basename(path),
      lines.filter(line => line.startsWith('[')),
    );
  }
  return tags;
}

/** `group` and `kind`: the first and the second of exiftool's groups, which prints two of one name once. */
function parsed(line: string): Record<'group' | 'kind' | 'name' | 'value', string> {
  const [, group = '', kind = group, name = '', value = ''] =
    /^\[(.*?)(?::(\w+))?\]\s+(\S+)\s*: ?(.*)$/.exec(line) ?? [];
  return {group, kind, name, value};
}

/** Whether a tag is one of exiftool's group of locations; zeros and spaces are none. */
function hasLocation(line: string): boolean {
  const {kind, value} = parsed(line);
  return kind === 'Location' && !/^[\s0.,\0]*$/.test(value);
}

/** Whether a tag is taken out although exiftool has it in another group. */
function isTakenOut(line: string): boolean {
  const {group, name} = parsed(line);
  return isLocationTag(name, group);
}

/** The places in the files that are made for tests, by which a tag of another name is known. */
const place = /Munich|Marienplatz|SECRET-PLACE|48\.13\d*/;

function others(lines: readonly string[]): string[] {
  return lines.filter(line => {
    const {group, kind, name, value} = parsed(line);
    // What a blanked pointer or box is instead.
    const isBlanked = /^(?:Exif_0x8826|Unknown_free)$/.test(name) && /^[0\s]*$/.test(value);
    // What is in a blanked item of iTunes beside its place, or an attribute of a blanked place whose name was mutated.
    const isWithinBlanked =
      (group === 'iTunes' && name.startsWith('Unknown_')) || /^(?:DC|RatingRegion)ParseType$/.test(name);
    // Spaces between properties, in XMP that exiftool reads leniently; a mutation may have put a few bytes among many.
    const strayBytes = /\s{20}/.test(value) ? 4 : 0;
    const isFilling = group.startsWith('XMP') && value.replace(/[\s.]+/g, '').length <= strayBytes;
    // The MD5 of extended XMP, in a property whose name was mutated.
    const isDigest = group.startsWith('XMP') && /^Has|XMP$/.test(name) && /^[\dA-F]{32}$/.test(value);
    return (
      !isDigest &&
      kind !== 'Location' &&
      !isTakenOut(line) &&
      !isDerivedTag(group, name) &&
      !isBlanked &&
      !isWithinBlanked &&
      !isFilling &&
      !place.test(value)
    );
  });
}

/** The lines that one list has more often than the other. */
function missing(lines: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of other) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter(line => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
