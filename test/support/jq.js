// A replacement for jq on machines without it: flags and one filter as arguments, JSON on standard input.
import {text} from 'node:stream/consumers';
import jq from 'jq-wasm';

const parameters = process.argv.slice(2);
const flags = parameters.filter(parameter => parameter.startsWith('-'));
const [filter = '.'] = parameters.filter(parameter => !parameter.startsWith('-'));
try {
  const stdout = await jq.raw(await text(process.stdin), filter, flags);
  if (stdout !== '') process.stdout.write(`${stdout}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 5;
}
