import {MediaError} from '../errors.ts';
import type {StopSignal} from '../host.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {decide} from './attempt/retry.ts';

/** Opens a source; again after an error that another try may not meet, as long as `mayRetry` resolves to true. */
export async function openSource(
  source: Source,
  stop: StopSignal<MediaError>,
  mayRetry: (error: MediaError) => Promise<boolean>,
): Promise<OpenSource> {
  for (;;) {
    try {
      return await source.open(stop);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      const {action} = decide('opening', {kind: 'error', error});
      if (action !== 'retry' || !(await mayRetry(error))) throw error;
    }
  }
}
