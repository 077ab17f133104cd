import {mkdir} from 'node:fs/promises';
import {MediaChild} from './child/media-child.ts';

/** A video, and the directory for its stream. */
export interface RepackageRequest {
  readonly path: string;
  readonly directory: string;
}

/** For one video; the heap that the process may have, in MiB. Samples are held outside the heap. */
const limits = {milliseconds: 20_000, heapMiB: 192};

/** Makes HLS streams of videos in a child process. If it fails, only the stream is missing. */
class Repackager {
  readonly #child = new MediaChild({
    path: 'dist/repackage-child.cjs',
    nodeOptions: [`--max-old-space-size=${limits.heapMiB}`],
    env: () => ({}),
    limitMs: limits.milliseconds,
  });

  /** Writes the stream of a video into a new directory; resolves with whether it did, and never rejects. */
  async make({path, directory}: RepackageRequest): Promise<boolean> {
    try {
      await mkdir(directory, {mode: 0o700});
    } catch {
      return false;
    }
    return (await this.#child.ask({path, directory}))?.['isMade'] === true;
  }
}

/** Shared by all services in this process. */
export const repackager = new Repackager();
