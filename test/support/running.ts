import type {Options} from 'execa';
import {afterTest} from './after-test.ts';
import type {Sandbox} from './media.ts';

/** A `media` that runs until the test ends it, or until the test ends, and what it has printed so far. */
export function running(box: Pick<Sandbox, 'start'>, parameters: readonly string[], options: Options = {}) {
  const child = box.start(parameters, options);
  afterTest(() => {
    child.kill('SIGKILL');
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  return {child, stdout: () => stdout, stderr: () => stderr};
}
