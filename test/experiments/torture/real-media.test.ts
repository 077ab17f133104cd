import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {expect} from 'vitest';
import {expectLiveUrls} from '../../embedded/record-urls.ts';
import {serviceWithKey, upload} from '../../embedded/support.ts';
import {experiment} from '../../support/experiment/experiment.ts';

interface Truth {
  file: string;
  trueType: string;
  bytes: number;
  width: number | null;
  height: number | null;
  durationSeconds: number | null;
  notes: string;
}

/** Real files with the truth about each, beside the repository on the machines that have them; not part of it. */
const corpus = new URL('../../../../shared/media/', import.meta.url);

const commonTypes =
  /^(image\/(png|apng|jpeg|gif|webp|bmp|tiff|svg\+xml|heic|heif|avif|jp2|jxl)|video\/(mp4|quicktime|webm|x-matroska|x-m4v|3gpp))$/;

async function truths(): Promise<Truth[]> {
  const lines = (await readFile(new URL('index.jsonl', corpus), 'utf8')).trim().split('\n');
  return lines.map(line => JSON.parse(line) as Truth);
}

/** Files of common types that image-size or mediabunny cannot read: their records are to leave the fields out. */
const unreadable = new Set(['avif-sequence.avif']);

/** Its header says two days, and its samples one second: the duration is left out. */
const contested = new Set(['mp4-fragmented.mp4']);

experiment(
  'real files: every upload succeeds, what its record says is true, and its URLs respond',
  async () => {
    const {service, key} = await serviceWithKey({previews: true});
    const all = await truths();
    for (const truth of all) {
      const bytes = await readFile(new URL(truth.file, corpus));
      const contentType = /^(image|video)\//.test(truth.trueType) ? truth.trueType : 'image/svg+xml';
      const response = await upload(service, key, Buffer.from(bytes), {'Content-Type': contentType});
      const record = (await response.json()) as {
        width?: number;
        height?: number;
        duration?: number;
        size: number;
      };
      const context = `${truth.file} ${JSON.stringify(record)}`;
      expect(response.status, context).toBe(200);
      expect(record.size, context).toBe(truth.bytes);
      await expectLiveUrls(record, contentType);
      if (truth.width !== null && record.width !== undefined) {
        expect([record.width, record.height], context).toEqual([truth.width, truth.height]);
      }
      if (record.duration !== undefined) {
        expect(Math.abs(record.duration - (truth.durationSeconds ?? 0)), context).toBeLessThan(0.1);
      }
      if (!commonTypes.test(truth.trueType) || unreadable.has(truth.file)) continue;
      expect(record.width, context).toBe(truth.width);
      expect(record.height, context).toBe(truth.height);
      const isAbsent = contentType.startsWith('image/') || contested.has(truth.file);
      expect(record.duration === undefined, context).toBe(isAbsent);
    }
    return {tried: all.length, held: all.length};
  },
  existsSync(new URL('index.jsonl', corpus)) ? undefined : 'the real files are not here',
);
