import {accessSync, constants} from 'node:fs';
import {delimiter, join} from 'node:path';
import type {TestContext} from 'vitest';

/** Skips the test, and says so, where one of the programs is not installed. */
export function needPrograms({skip, task}: TestContext, programs: readonly string[], packages: string): void {
  const missing = programs.filter(program => !isInstalled(program));
  if (missing.length === 0) return;
  const reason = `not installed: ${missing.join(', ')} (Debian and Ubuntu: apt-get install ${packages})`;
  process.stderr.write(`NOT RUN: ${task.name}: ${reason}\n`);
  skip(reason);
}

/** Daemons are not on everybody's PATH. */
function isInstalled(program: string): boolean {
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
