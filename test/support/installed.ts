import {accessSync, constants} from 'node:fs';
import {delimiter, join} from 'node:path';
import type {TestContext} from 'vitest';

/** Skips the test where one of the programs is not installed. */
export function needPrograms(context: TestContext, programs: readonly string[], packages: string): void {
  const missing = programs.filter(program => !isInstalled(program)).join(', ');
  if (missing === '') return;
  notRun(context, `not installed: ${missing} (Debian and Ubuntu: apt-get install ${packages})`);
}

/** Skips the test, and says so. */
export function notRun({skip, task}: TestContext, reason: string): never {
  process.stderr.write(`NOT RUN: ${task.name}: ${reason}\n`);
  return skip(reason);
}

/** Whether a program is installed; daemons are not on everybody's PATH. */
export function isInstalled(program: string): boolean {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return directories.some(directory => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
