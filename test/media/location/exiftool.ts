import {execa, execaSync} from 'execa';
import type {TestContext} from 'vitest';
import {notRun, whatIsMissing} from '../../support/installed.ts';

/** The first version that finds the records of GoPro that no track of a video refers to. */
const leastVersion = 13.58;

/** Why tests that ask exiftool are skipped on this machine. */
export const noExiftool = whatIsMissing(['exiftool']) ?? whatIsTooOld();

function whatIsTooOld(): string | undefined {
  const version = execaSync('exiftool', ['-ver'], {reject: false}).stdout;
  if (Number(version) >= leastVersion) return undefined;
  return `exiftool is ${version}, not ${leastVersion} or newer (npm install --global --prefix /usr/local exiftool-vendored.pl)`;
}

/** Skips the test, with the reason, without an exiftool that finds all locations. */
export function needExiftool(context: TestContext): void {
  if (noExiftool !== undefined) notRun(context, noExiftool);
}

/** What exiftool prints; its exit status says only that one of many files is damaged. */
export async function exiftool(...parameters: readonly string[]): Promise<string> {
  if (noExiftool !== undefined) throw new Error(noExiftool);
  const options = {reject: false, maxBuffer: 2 ** 29, encoding: 'latin1'} as const;
  return (await execa('exiftool', parameters, options)).stdout;
}
