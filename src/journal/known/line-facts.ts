import {contentOf, type ShaHalf} from '../../lib/tables/content.ts';
import type {UploadFacts} from '../file/parse.ts';
import {Digest} from './digest.ts';

/**
 * The facts of a line about an upload, as the index needs them. One instance is reused for all lines, without creating
 * strings.
 */
export class LineFacts {
  event: UploadFacts['event'] = 'intent';
  by = '';
  readonly key = new Digest();
  /** The hash of the content, if the line has one. */
  sha: ShaHalf = [0, 0, 0, 0];
  isHashed = false;
  /** Whether the line has a path and what belongs to it: */
  hasPlace = false;
  /**
   * The size of the file, what decided its content type, the digest of its path, and that of path, size and stat
   * together.
   */
  size = 0;
  types = '';
  readonly path = new Digest();
  readonly state = new Digest();
  contentType = '';
  /** Whether an unknown upload may be sent again. */
  isResend = false;

  /** Takes over the facts of a line by this writer. */
  set(line: UploadFacts, by: string): this {
    this.event = line.event;
    this.by = by;
    this.key.of(line.key);
    this.isHashed = false;
    this.hasPlace = false;
    this.isResend = false;
    // Half of all lines: nothing more is looked for.
    if (line.event === 'done') return this;
    this.isHashed = 'sha256' in line && line.sha256 !== '';
    if ('sha256' in line) this.sha = contentOf(line.sha256, 0).sha;
    this.hasPlace = 'path' in line && line.path !== undefined;
    if ('path' in line && line.path !== undefined) {
      const {path, size = 0, stat = '', types = ''} = line;
      this.path.of(path);
      this.state.of(path, String(size), stat);
      this.size = size;
      this.types = types;
    }
    if ('contentType' in line) this.contentType = line.contentType ?? '';
    this.isResend = line.event === 'resolved' && line.as === 'resend';
    return this;
  }
}
