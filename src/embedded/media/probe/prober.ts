import {systemHost} from '../../../host.ts';
import {defined} from '../../../lib/defined.ts';
import {hasShape} from '../../../lib/shape.ts';
import {MediaChild} from '../child/media-child.ts';
import {factsIn, factsShape, type MediaFacts, type ProbeRequest} from '../media-facts.ts';

/**
 * For one file; the heap that the process itself may have, in MiB. The process limits the processor time of videos itself, which is
 * the same on a busy machine.
 */
const limits = {milliseconds: 12_000, heapMiB: 192};

/**
 * Inspects files. Images whose header is enough are read in this process. All others are read in a child process. If it fails,
 * records only lack some fields.
 */
export class Prober {
  readonly #child = new MediaChild({
    path: 'dist/probe-child.cjs',
    nodeOptions: [`--max-old-space-size=${limits.heapMiB}`],
    // The path to ffprobe.
    env: () => defined({PATH: systemHost().env['PATH']}),
    limitMs: limits.milliseconds,
  });

  /** Starts the process, unless it runs, if a file of this type will need it. */
  prepare(contentType: string): void {
    if (contentType.startsWith('video/')) this.#child.start();
  }

  /** The facts that can be read from a file; never rejects. */
  async probe({path, contentType}: ProbeRequest): Promise<MediaFacts> {
    if (contentType.startsWith('image/')) {
      // Loaded on first use, since it would slow down the start of every run.
      const {probePlainImage} = await import('./probe-image.ts');
      const facts = await factsIn(path, handle => probePlainImage(handle, contentType));
      if (facts !== undefined) return facts;
    }
    const response = await this.#child.ask({path, contentType});
    return response !== undefined && hasShape(response, factsShape) ? response : {};
  }
}

/** Shared by all services in this process. */
export const prober = new Prober();
