import {execa} from 'execa';
import {whatIsMissing} from '../support/installed.ts';

/** Why tests that ask exiftool are skipped on this machine. */
export const noExiftool = whatIsMissing(['exiftool']);

/** What exiftool prints; its exit status says only that one of many files is damaged. */
export async function exiftool(...parameters: readonly string[]): Promise<string> {
  if (noExiftool !== undefined) throw new Error(noExiftool);
  const options = {reject: false, maxBuffer: 2 ** 29, encoding: 'latin1'} as const;
  return (await execa('exiftool', parameters, options)).stdout;
}
