import {copyFile, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {connectedSandbox} from '../../support/embedded.ts';
import type {EmbeddedService, ServiceOptions} from '../../support/embedded-service.ts';
import {fixture} from '../../support/media.ts';

interface Entry {
  url: string;
  sha256: string;
  size: number;
  contentType: string;
  record: {id: string};
  stdin?: true;
}

/** A checkout with two pictures in `assets`, and a service that counts what it stores. */
export async function checkout(options: Partial<ServiceOptions> = {}) {
  const connected = await connectedSandbox(options);
  const {sandbox, service} = connected;
  const path = (name: string) => join(sandbox.directory, name);
  await mkdir(path('assets/img'), {recursive: true});
  await copyFile(fixture('photo.png'), path('assets/img/logo.png'));
  await writePng(path('assets/icon.png'), 'icon');
  const upload = (...parameters: string[]) =>
    sandbox.run(['upload', '--manifest', 'media.json', ...parameters]);
  const text = () => readFile(path('media.json'), 'utf8');
  const manifest = async () =>
    JSON.parse(await text()) as {
      service: string;
      serviceId?: string;
      files: Record<string, Entry>;
      unknown?: Record<string, Entry>;
    };
  const stored = async () => (await service.records()).length;
  /** What the run left beside the manifest. */
  const beside = async () =>
    (await readdir(sandbox.directory)).filter(
      name => name.startsWith('media.json') || name.startsWith('.media-'),
    );
  return {...connected, path, upload, text, manifest, stored, beside};
}

/** Whether a request has met a fault of the service. */
export function isFaultApplied({faults}: EmbeddedService): boolean {
  return faults?.counts().some(({applied}) => applied > 0) ?? false;
}

/** A picture whose bytes differ by a text, which changes nothing of what is seen. */
export async function writePng(path: string, text: string): Promise<void> {
  await writeFile(path, Buffer.concat([await readFile(fixture('photo.png')), Buffer.from(text)]));
}
