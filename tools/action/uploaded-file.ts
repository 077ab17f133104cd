import {parseObject} from '../../src/lib/json.ts';
import {safeUrl} from '../../src/lib/url.ts';

/** A file that is stored, now or since an earlier run. */
export interface UploadedFile {
  file: string;
  url: string | undefined;
  thumbnailUrl: string | undefined;
  /** Bytes. */
  size: number | undefined;
  isNew: boolean;
}

/** Reads a line that the template of the action printed; undefined for any other. */
export function uploadedFile(line: string): UploadedFile | undefined {
  const {file, status, size, url, thumbnailUrl} = parseObject(line) ?? {};
  if (typeof file !== 'string' || (status !== 'uploaded' && status !== 'skipped')) return undefined;
  return {
    file,
    url: webUrl(url),
    thumbnailUrl: webUrl(thumbnailUrl),
    size: typeof size === 'number' ? size : undefined,
    isNew: status === 'uploaded',
  };
}

function webUrl(value: unknown): string | undefined {
  return typeof value === 'string' ? safeUrl(value) : undefined;
}
