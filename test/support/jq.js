// A replacement for jq on machines without it: flags, one filter and perhaps a file as arguments, otherwise JSON on standard input.
import {readFile} from 'node:fs/promises';
import {text} from 'node:stream/consumers';
import jq from 'jq-wasm';

const parameters = process.argv.slice(2);
const flags = parameters.filter(parameter => parameter.startsWith('-'));
const [filter = '.', file] = parameters.filter(parameter => !parameter.startsWith('-'));
try {
  const json = file === undefined ? await text(process.stdin) : await readFile(file, 'utf8');
  const stdout = await jq.raw(json, filter, flags);
  if (stdout !== '') process.stdout.write(`${stdout}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 5;
}
