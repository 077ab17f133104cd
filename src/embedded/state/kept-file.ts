import {readFile} from 'node:fs/promises';
import {hasShape, isObject, parseObject, type Shape, wrongField} from '../../lib/json.ts';
import {systemCode} from '../../lib/system-code.ts';

/** A file in the data directory was changed from outside; it is left unchanged. */
class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
  /** What to do about it. */
  readonly hint: string;

  constructor(path: string, how: string, hint: string) {
    super(`${path} is damaged: ${how}.`);
    this.hint = hint;
  }
}

/** A file in the data directory with a JSON object. */
export class KeptFile {
  readonly #path: string;
  readonly #hint: string;

  /** `hint`: what to do if it is damaged. */
  constructor(path: string, hint: string) {
    this.#path = path;
    this.#hint = hint;
  }

  /** Reads the file; undefined if there is none. Rejects with a DamagedFile if the content does not match the shape. */
  async read<T extends object>(shape: Shape<T>): Promise<T | undefined> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    const value = parseObject(text);
    if (value === undefined) throw new DamagedFile(this.#path, 'it is not a JSON object', this.#hint);
    if (hasShape(value, shape)) return value;
    throw this.#wrong(wrongField(value, shape) ?? '');
  }

  /** Checks a value from the file; throws a DamagedFile if it does not match the shape. `at`: its place in the file. */
  checked<T extends object>(value: unknown, shape: Shape<T>, at: string): T {
    if (!isObject(value)) throw this.#wrong(at);
    if (hasShape(value, shape)) return value;
    throw this.#wrong(`${at}.${wrongField(value, shape)}`);
  }

  #wrong(field: string): DamagedFile {
    return new DamagedFile(this.#path, `its field "${field}" is wrong`, this.#hint);
  }
}
