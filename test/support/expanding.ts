import {expect} from 'vitest';
import {expandInputs, type InputRequest} from '../../src/engine/sources/find/expand.ts';
import type {Source} from '../../src/engine/sources/open/source.ts';
import type {MediaError, PlainError} from '../../src/errors.ts';
import {systemFiles} from '../../src/lib/files/file-system.ts';
import {inWords} from './hints.ts';
import {collect, stdinOf} from './trees.ts';

/** Expands a request in a directory. */
export function expand(
  cwd: string,
  request: InputRequest,
  stdin: string | Uint8Array = '',
): AsyncGenerator<Source> {
  return expandInputs(request, {
    cwd,
    files: systemFiles,
    stdin: () => stdinOf(stdin),
    temporaryDirectory: cwd,
  });
}

/** The sources, each as its name, plus its relative path if that differs; hidden files are marked. */
export async function list(
  cwd: string,
  request: InputRequest,
  stdin: string | Uint8Array = '',
): Promise<string[]> {
  return (await collect(expand(cwd, request, stdin))).map(({name, relativePath, found}) => {
    const shown = name === relativePath ? name : `${name} as ${relativePath}`;
    return found?.isHidden ? `${shown}, hidden` : shown;
  });
}

/** The bytes of a source, as text. */
export async function contentOf(source: Source): Promise<string> {
  const opened = await source.open(new AbortController().signal);
  try {
    return Buffer.from(await opened.read(0, opened.size)).toString();
  } finally {
    await opened.close();
  }
}

/** The error that opening a source rejects with. */
export async function refusal(source: Source | undefined): Promise<PlainError | undefined> {
  return source?.open(new AbortController().signal).then(
    () => expect.unreachable('it opened'),
    (error: MediaError) => inWords(error),
  );
}
