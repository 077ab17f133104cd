import {readFile} from 'node:fs/promises';
import {hasShape, isObject, parseObject, type Shape, type ShapeOf, wrongField} from '../../lib/json.ts';
import {limitConcurrency} from '../../lib/limited.ts';
import {isOutOfDescriptors, systemCode, systemReason} from '../../lib/system-code.ts';

/** A file in the data directory with a JSON object, and what to do if it is damaged. */
interface KeptFile {
  readonly path: string;
  /** Absent where damage is not reported. */
  readonly hint?: string;
}

/** Each read takes a descriptor, and a page or a query may ask for thousands of files. */
export const readsAtOnce = limitConcurrency(32);

/** Reads a file; undefined if there is none. Rejects with a DamagedFile if it is unreadable, or not of the shape. */
export async function readStored<S extends Shape>(file: KeptFile, shape: S): Promise<ShapeOf<S> | undefined> {
  let text: string;
  try {
    text = await readsAtOnce(() => readFile(file.path, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    // Without a free descriptor, no file can be read for a moment: that is not damage.
    if (isOutOfDescriptors(error)) throw error;
    throw damagedFileError(file, `it cannot be read (${systemReason(error)})`);
  }
  const value = parseObject(text);
  if (value === undefined) throw damagedFileError(file, 'it is not a JSON object');
  return requireShape(file, value, shape);
}

/** A DamagedFile: it was changed from outside, or cannot be read, and is left unchanged. */
function damagedFileError({path, hint}: KeptFile, how: string): Error {
  return Object.assign(new Error(`${path} is damaged: ${how}.`), {name: 'DamagedFile', hint});
}

/** Takes a damaged file for none; throws any other error. */
export function ignoreDamage(error: unknown): undefined {
  if (!(error instanceof Error) || error.name !== 'DamagedFile') throw error;
}

/** Checks a value from a file; throws a DamagedFile if it does not match the shape. `at`: its place in the file. */
export function requireShape<S extends Shape>(
  file: KeptFile,
  value: unknown,
  shape: S,
  at?: string,
): ShapeOf<S> {
  if (isObject(value) && hasShape(value, shape)) return value;
  const field = isObject(value) ? wrongField(value, shape) : undefined;
  const place = [at, field].filter(part => part !== undefined).join('.');
  throw damagedFileError(file, `its field "${place}" is wrong`);
}
