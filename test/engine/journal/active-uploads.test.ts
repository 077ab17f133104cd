import {setImmediate} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {type ActiveUpload, ActiveUploads} from '../../../src/engine/journal/active-uploads.ts';
import {collectGarbage} from '../../support/memory-used.ts';

it('an upload that has ended is forgotten, although one of the same size was always in progress since', async () => {
  const active = new ActiveUploads();
  const refs: WeakRef<ActiveUpload>[] = [];
  const inProgress: ActiveUpload[] = [];
  for (let number = 0; number < 1000; number += 1) {
    const upload = active.begin(43);
    refs.push(new WeakRef(upload));
    inProgress.push(upload);
    if (inProgress.length > 8) inProgress.shift()?.end();
  }
  // A weak reference keeps its target until the end of the turn that made it.
  await setImmediate();
  collectGarbage();
  expect(refs.filter(ref => ref.deref() !== undefined).length).toBeLessThan(100);
  expect(inProgress).toHaveLength(8);
});
