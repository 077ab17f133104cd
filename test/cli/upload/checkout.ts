import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {connectedSandbox} from '../../support/embedded.ts';
import {fixture, type Sandbox} from '../../support/media.ts';

const photo = fixture('photo.png');

/** Puts files below the sandbox: where nothing else is said, a photo of its own, so that its bytes tell which was sent. */
export async function fill(
  sandbox: Sandbox,
  files: Record<string, string | Buffer | undefined>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(sandbox.directory, name);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, content ?? (await pictureOf(name)));
  }
}

async function pictureOf(name: string): Promise<Buffer> {
  return Buffer.concat([await readFile(photo), Buffer.from(`made for ${name}`)]);
}

type Service = Awaited<ReturnType<typeof connectedSandbox>>['service'];

/** What the service stored, each file by the name that its picture was made for. */
export async function stored(service: Service): Promise<string[]> {
  const names = [];
  for (const {path} of await service.records()) {
    const bytes = (await readFile(path)).toString('latin1');
    names.push(/made for (.*)$/s.exec(bytes)?.[1] ?? 'something else');
  }
  return names.sort();
}

/** The lines of NDJSON, each as the file and what became of it. */
export function fates(stdout: string): string[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
    .map(({file, status, error}) => `${file}: ${status}${error === undefined ? '' : ` ${error.code}`}`)
    .sort();
}

/** A checkout with pictures in it, as they are: two to be sent, five names to be left out. */
export const checkout = {
  'work/.git/objects/ab/photo.png': undefined,
  'work/.DS_Store': 'Bud1',
  'work/._cat.png': '<!doctype html><title>no picture</title>',
  'work/README.md': '# About\n',
  'work/cat.png': undefined,
  'work/src/main.ts': 'export const answer: number = 42;\n',
  'work/deep/down/dog': undefined,
};
