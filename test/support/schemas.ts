import {readFileSync} from 'node:fs';
import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js';
import type {Schema, SchemaName} from '../../tools/schemas.ts';

/** The words of a command line whose standard output is JSON lines of a kind. */
const onStdout: readonly (readonly [words: readonly string[], name: SchemaName])[] = [
  [['upload', '--ndjson'], 'upload'],
  [['upload', '--json'], 'record'],
  [['whoami', '--json'], 'whoami'],
  [['doctor', '--json'], 'doctor'],
  [['config', 'list', '--json'], 'config-list'],
  [['journal', 'list', '--json'], 'journal-list'],
  [['journal', 'check', '--json'], 'journal-check'],
  [['journal', 'merge', '--json'], 'journal-check'],
  [['rewrite', '--ndjson'], 'rewrite'],
  [['watch', '--ndjson'], 'watch'],
];

/** The first field of each kind of line on standard error. */
const onStderr: Readonly<Record<string, SchemaName>> = {
  ...{error: 'error', request: 'serve', signIn: 'serve', unchanged: 'rewrite', dialect: 'rewrite'},
};

const ajv = new Ajv2020({allErrors: true});
const validators = new Map<SchemaName, ValidateFunction>();

function validatorOf(name: SchemaName): ValidateFunction {
  const known = validators.get(name);
  if (known !== undefined) return known;
  const path = new URL(`../../docs/schemas/${name}.json`, import.meta.url);
  const validator = ajv.compile(closed(JSON.parse(readFileSync(path, 'utf8'))));
  validators.set(name, validator);
  return validator;
}

/** The schema without room for fields that it does not list, which only later versions and the service may add. */
function closed(schema: Schema): Schema {
  const {properties, items, anyOf, additionalProperties} = schema;
  return {
    ...schema,
    ...(items && {items: closed(items)}),
    ...(anyOf && {anyOf: anyOf.map(closed)}),
    ...(typeof additionalProperties === 'object' && {additionalProperties: closed(additionalProperties)}),
    ...(properties && {
      additionalProperties: schema.additionalProperties === true,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, closed(field)]),
      ),
    }),
  };
}

/** Throws if the program printed a line of JSON that is not as its schema says. */
export function checkJsonLines(parameters: readonly string[], stdout: string, stderr: string): void {
  const words = parameters.includes('--') ? parameters.slice(0, parameters.indexOf('--')) : parameters;
  const [, name] = onStdout.find(([known]) => known.every(word => words.includes(word))) ?? [];
  const isHelp = words.some(word => ['help', '--help', '-h'].includes(word));
  if (name !== undefined && !isHelp) for (const line of wholeLines(stdout)) checkJsonLine(name, line);
  for (const line of wholeLines(stderr)) {
    const kind = onStderr[/^\{"(\w+)":\{/.exec(line)?.[1] ?? ''];
    if (kind !== undefined) checkJsonLine(kind, line);
  }
}

/** The lines that have ended. */
function wholeLines(text: string): string[] {
  return text.includes('{') || text.includes('[') ? text.split('\n').slice(0, -1) : [];
}

/** Throws if a line of JSON is not as its schema says. */
export function checkJsonLine(name: SchemaName, line: string): void {
  const validate = validatorOf(name);
  if (validate(JSON.parse(line))) return;
  throw new Error(`Not as in docs/schemas/${name}.json: ${ajv.errorsText(validate.errors)}\n${line}`);
}
