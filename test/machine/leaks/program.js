import {createRequire} from 'node:module';
import {Readable, Writable} from 'node:stream';

const {load} = createRequire(import.meta.url)('../../../bin/load.js');
const {run, systemHost} = load('main.cjs');

/**
 * Runs a command line of the built program in this process. Resolves to its status and output. `changes`: parts of the host
 * in place of the system's; `onOutput`: called with each piece of standard output.
 */
export async function media(parameters, changes = {}, onOutput = () => {}) {
  let [stdout, stderr] = ['', ''];
  const collect = take =>
    new Writable({
      write(chunk, _encoding, done) {
        take(String(chunk));
        done();
      },
    });
  const parts = {
    stdin: Readable.from([]),
    stdout: collect(text => {
      stdout += text;
      onOutput(text);
    }),
    stderr: collect(text => {
      stderr += text;
    }),
    ...changes,
  };
  const host = Object.create(systemHost());
  for (const [name, value] of Object.entries(parts)) Object.defineProperty(host, name, {value});
  const status = await run(parameters, host);
  return {status, stdout, stderr};
}

export {systemHost};
