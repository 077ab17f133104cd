import {readFileSync} from 'node:fs';
import {MediaError} from '../../../src/errors.ts';
import {decideContentType, type TypeRule} from '../../../src/media/type/decide.ts';

export function fixture(name: string): Uint8Array {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** The type under which the bytes are sent, or the code of the refusal. */
export async function decide(name: string, bytes: Uint8Array, rule: TypeRule): Promise<string> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  try {
    return (await decideContentType(name, {size: bytes.length, read}, rule)).contentType;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  }
}

export const latin1 = (text: string) => Uint8Array.from(text, character => character.charCodeAt(0));
