import {readdir, readFile} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {
  type ServiceOptions,
  type EmbeddedService as Started,
  startEmbeddedService as start,
} from '../../src/embedded/service.ts';
import {mediaRecord, type StoredRecord} from '../../src/embedded/state/stored-record.ts';

export type {RequestEntry, SeedFile, ServiceOptions} from '../../src/embedded/service.ts';

/** An embedded service, and its uploads by its data directory, oldest first. */
export type EmbeddedService = Started & {records(): ReturnType<typeof storedIn>};

export async function startEmbeddedService(options: ServiceOptions): Promise<EmbeddedService> {
  const service = await start(options);
  const baseUrl = (options.publicUrl ?? service.url).replace(/\/+$/, '');
  return Object.assign(service, {records: () => storedIn(resolve(options.dataDirectory), baseUrl)});
}

async function storedIn(directory: string, baseUrl: string) {
  const names = (await readdir(join(directory, 'records')))
    .filter(name => /^m_\w{29}\.json$/.test(name))
    .sort();
  const texts = names.map(name => readFile(join(directory, 'records', name), 'utf8').catch(() => undefined));
  // One may have been deleted meanwhile.
  return (await Promise.all(texts))
    .filter(text => text !== undefined)
    .map(text => {
      const stored: StoredRecord = JSON.parse(text);
      const {id, contentType, sha256, createdAt} = stored;
      return {
        record: mediaRecord(stored, baseUrl),
        contentType,
        path: join(directory, 'files', id),
        sha256,
        createdAt,
      };
    });
}
