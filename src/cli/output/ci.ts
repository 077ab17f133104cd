import {relative, resolve} from 'node:path';
import type {MediaError, PlainError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {printable} from '../../lib/printable.ts';
import type {Report} from './report.ts';

/** Whether this is a step of GitHub Actions. */
export function isOnGithub(env: Host['env']): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

/** The place in a document that an annotation is shown at, counted from 1; empty for an error of a whole rewrite. */
type AnnotatedPlace = Partial<Record<'line' | 'column', number>>;

/** How many annotations GitHub shows for a step. */
const mostAnnotations = 10;

export type Annotate = (error: MediaError, file?: string, place?: AnnotatedPlace) => void;

/** Returns what writes error annotations, as many as GitHub shows. */
export function annotator(
  {stderr, env, cwd}: Pick<Host, 'stderr' | 'env' | 'cwd'>,
  {inWords}: Pick<Report, 'inWords'>,
): Annotate {
  let count = 0;
  return (error, file, place) => {
    const workspace = env['GITHUB_WORKSPACE'];
    // GitHub shows the file of this path in the repository, whatever the working directory of the step.
    const path = file && workspace ? relative(workspace, resolve(cwd(), file)) : file;
    count += 1;
    if (count <= mostAnnotations) stderr.write(`${errorAnnotation(inWords(error), path, place)}\n`);
  };
}

/** An annotation, escaped as by actions/toolkit (packages/core/src/command.ts); of an upload if it has no `place`. */
export function errorAnnotation(error: PlainError, file?: string, place?: AnnotatedPlace): string {
  const properties = [
    ...(file === undefined ? [] : [`file=${escapeProperty(printable(file))}`]),
    ...(place?.line === undefined ? [] : [`line=${place.line},col=${place.column}`]),
    `title=${escapeProperty(`media ${place === undefined ? 'upload' : 'rewrite'}: ${error.code}`)}`,
  ];
  const sentences = error.hint ? [error.messageToKeep, error.hint] : [error.messageToKeep];
  return `::error ${properties.join(',')}::${escapeData(sentences.map(printable).join('\n'))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** An entry of the file that GITHUB_OUTPUT names; its delimiter must be impossible to guess. */
export function outputEntry(name: string, value: string, delimiter: string): string {
  if (value.includes(delimiter)) throw new Error('the delimiter occurs in the value');
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
