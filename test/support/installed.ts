import {accessSync, constants, statSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import type {TestContext} from 'vitest';
import packages from './programs.json' with {type: 'json'};

/** A program that some tests need and that not every machine has; programs.json has its Debian package, or null. */
export type Program = keyof typeof packages;

/** Skips the test, with the reason, if one of the programs is not installed. */
export function needPrograms(context: TestContext, programs: readonly Program[]): void {
  const reason = whatIsMissing(programs);
  if (reason !== undefined) notRun(context, reason);
}

/**
 * Why tests that need these programs cannot run here, with the command that installs them; undefined if all are
 * installed.
 */
export function whatIsMissing(
  programs: readonly Program[],
  searchPath = process.env['PATH'] ?? '',
): string | undefined {
  const missing = programs.filter(program => pathOf(program, searchPath) === undefined);
  if (missing.length === 0) return undefined;
  const helpful = new Set(missing.map(program => packages[program]).filter(name => name !== null));
  const command = helpful.size > 0 ? ` (Debian and Ubuntu: apt-get install ${[...helpful].join(' ')})` : '';
  return `not installed: ${missing.join(', ')}${command}`;
}

/** Skips the test with this reason. */
export function notRun({skip, task}: TestContext, reason: string): never {
  process.stderr.write(`NOT RUN: ${task.name}: ${reason}\n`);
  return skip(reason);
}

/** The path of a program, as a shell finds it. */
export function pathOf(program: string, searchPath = process.env['PATH'] ?? ''): string | undefined {
  const paths = searchPath.split(delimiter).map(directory => join(directory || '.', program));
  return paths.find(path => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}
