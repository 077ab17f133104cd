import type {UploadLine} from '../file/parse.ts';
import {contentOf, type ShaHalf} from './content.ts';
import {Digest} from './digest.ts';

/** What a line tells of an upload, as the index takes it in: one of these serves for all lines, with no text of its own. */
export class Told {
  event: UploadLine['event'] = 'intent';
  by = '';
  readonly key = new Digest();
  /** Of a file's content; whether it is told. */
  sha: ShaHalf = [0, 0, 0, 0];
  isHashed = false;
  /** Of a file: its size, what decided its content type, its path, and its path, size and stat together. */
  size = 0;
  types = '';
  readonly path = new Digest();
  readonly state = new Digest();
  contentType = '';
  /** Whether an unknown upload is to be sent again. */
  isResend = false;

  /** Becomes what a line tells. */
  tell(line: UploadLine): this {
    this.event = line.event;
    this.by = line.by;
    this.key.of(line.key);
    this.isHashed = 'sha256' in line && line.sha256 !== '';
    if ('sha256' in line) this.sha = contentOf(line.sha256, 0).sha;
    if ('path' in line) {
      const {path, size, stat = '', types = ''} = line;
      this.path.of(path);
      this.state.of(path, String(size), stat);
      this.size = size;
      this.types = types;
    }
    if (line.event === 'intent') this.contentType = line.contentType;
    this.isResend = line.event === 'resolved' && line.as === 'resend';
    return this;
  }
}
