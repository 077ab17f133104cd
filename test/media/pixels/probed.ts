import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {probe} from '../../../src/media/pixels/probe.ts';
import {temporaryDirectory} from '../../embedded/support.ts';

/** What is found out about bytes of that type. */
export async function probed(bytes: Uint8Array, contentType: string) {
  const path = join(await temporaryDirectory(), 'media');
  await writeFile(path, bytes);
  return probe({path, contentType});
}
