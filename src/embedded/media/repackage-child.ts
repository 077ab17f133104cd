import {open} from 'node:fs/promises';
import {isString, type Shape} from '../../lib/shape.ts';
import {answerRequests} from './child/answer-requests.ts';
import {repackage} from './repackage.ts';
import type {RepackageRequest} from './repackager.ts';

const requestShape: Shape<RepackageRequest> = {path: isString, directory: isString};

void answerRequests(requestShape, async request => ({isMade: await make(request).catch(() => false)}));

async function make({path, directory}: RepackageRequest): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    return await repackage(handle, directory);
  } finally {
    await handle.close();
  }
}
