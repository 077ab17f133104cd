import {createRequire} from 'node:module';
import {systemHost} from '../../host.ts';
import {defined} from '../../lib/defined.ts';
import {packageFile} from '../../package-file.ts';
import {MediaChild} from './child/media-child.ts';

/** A medium, and where its thumbnail is to be written. */
export interface ThumbnailRequest {
  readonly path: string;
  readonly target: string;
  readonly contentType: string;
}

/**
 * Makes thumbnails in a child process, if sharp is installed: images are decoded by native code. If it fails, only thumbnails are
 * missing.
 */
class Thumbnailer {
  #isPossible: boolean | undefined;
  readonly #child = new MediaChild({
    path: 'dist/thumbnail-child.cjs',
    // The path to ffmpeg.
    env: () => defined({PATH: systemHost().env['PATH']}),
    // Loading sharp is part of the first response.
    limitMs: 12_000,
  });

  /** Writes the thumbnail of a medium, a WebP of at most 320 pixels; resolves with whether it did, and never rejects. */
  async make({path, target, contentType}: ThumbnailRequest): Promise<boolean> {
    this.#isPossible ??= isInstalled('sharp');
    if (!this.#isPossible || /xml/i.test(contentType)) return false;
    return (await this.#child.ask({path, target, contentType}))?.['isMade'] === true;
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(packageFile('package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Shared by all services in this process. */
export const thumbnailer = new Thumbnailer();
