import type {FormatName} from '../../../src/cli/output/results/formats.ts';
import type {MediaRecord} from '../../../src/engine/service/record.ts';

/** What each format prints for one uploaded file. */
export const expectedOfOne: Record<
  Exclude<FormatName, 'table' | 'ndjson'>,
  (file: string, record: MediaRecord) => string
> = {
  json: (_file, record) => `${JSON.stringify(record)}\n`,
  url: (_file, {fileUrl}) => `${fileUrl}\n`,
  markdown: (file, {type, fileUrl}) => {
    const link = `[${file.split('/').at(-1)}](${fileUrl})`;
    return type === 'IMAGE' ? `!${link}\n` : `${link}\n`;
  },
};
export const plainFormats = Object.keys(expectedOfOne) as (keyof typeof expectedOfOne)[];
