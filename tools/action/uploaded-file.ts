import {parseObject} from '../../src/lib/json.ts';
import {printable} from '../../src/lib/printable.ts';
import {safeUrl} from '../../src/lib/url.ts';

/** A file that is stored, now or since an earlier run, or that would be. */
export interface UploadedFile {
  file: string;
  status: 'uploaded' | 'skipped' | 'checked';
  url: string | undefined;
  thumbnailUrl: string | undefined;
  /** Bytes. */
  size: number | undefined;
}

/** Reads a line of NDJSON, or one that the template of the action printed; undefined for any other. */
export function uploadedFile(line: string): UploadedFile | undefined {
  const {file, status, size, url, record, ...others} = parseObject(line) ?? {};
  if (typeof file !== 'string' || (status !== 'uploaded' && status !== 'skipped' && status !== 'checked'))
    return undefined;
  const {thumbnailUrl} = {...others, ...(record as object | undefined)} as {thumbnailUrl?: unknown};
  return {
    file,
    status,
    url: webUrl(url),
    thumbnailUrl: webUrl(thumbnailUrl),
    size: typeof size === 'number' ? size : undefined,
  };
}

/** The line of the log for a file that has changed; undefined for one that was uploaded before. */
export function logLine({file, status, url}: UploadedFile): string | undefined {
  return status === 'skipped' ? undefined : [status, printable(file), url ?? ''].join('  ').trimEnd();
}

function webUrl(value: unknown): string | undefined {
  return typeof value === 'string' ? safeUrl(value) : undefined;
}
