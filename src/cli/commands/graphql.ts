import type {HttpResponse} from '../../engine/http/http.ts';
import {refusalIn} from '../../engine/service/uploader.ts';
import {describeFailure} from '../../engine/transfer/attempt/explain.ts';
import {brokenRequestError, MediaError, refuseStdinTwice, throwAs} from '../../errors.ts';
import {readText, textOf} from '../../lib/files/read-text.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {isObject, isRepresentable, parseJson, parseObject} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {printableJson} from '../output/escape.ts';
import {prettyJson} from '../output/pretty-json.ts';
import {mayColor} from '../output/terminal.ts';
import {announceTyping, type CliCommand, type Invocation} from '../session/invocation.ts';
import {collect, timeoutOption} from '../session/values.ts';

interface GraphqlOptions {
  input?: string;
  variables?: string;
  rawField?: string[];
  field?: string[];
  /** Milliseconds. */
  timeout: number;
}

export function graphqlCommand(graphql: CliCommand): void {
  graphql
    .description('Send an authenticated GraphQL request and print the response.')
    .argument('[query]', 'the query, or - for standard input')
    .option('--input <file>', 'read the query from a file, or - for standard input')
    .option('--variables <file>', 'read the variables, a JSON object, from a file, or - for standard input')
    .option('-f, --raw-field <name=value>', 'a variable that is a string', collect)
    .option(
      '-F, --field <name=value>',
      'a variable that is true, false, null, a number, or @FILE for the content of a file',
      collect,
    )
    .addOption(timeoutOption())
    .examples([
      "media graphql '{viewer{name}}'",
      "media graphql 'query($id: ID!){media(id: $id){type fileUrl}}' -f id=m_123",
      'media graphql --input query.graphql -F first=10',
      "media graphql --input key.graphql --variables key.json -F 'input[name]=ci'",
    ])
    .runs(runGraphql);
}

/** Sends the request and prints the response. The exit status is 1 if the response has errors (docs/graphql.md). */
async function runGraphql(options: GraphqlOptions, invocation: Invocation, query?: string) {
  const request = await readRequest(options, query, invocation);
  const {openSession, withTimeout} = await import('../session/session.ts');
  const session = await openSession(invocation);
  try {
    const response = await withTimeout(invocation, options.timeout, signal =>
      session.client.graphql(request, signal).catch(error => {
        if (!signal.aborted) throw brokenRequestError(error, session.hostName);
        const message = `${session.hostName} did not respond within ${options.timeout / 1000} s.`;
        const hint = 'Wait longer with --timeout; the service may still carry out a mutation.';
        throw new MediaError('deadline_exceeded', message, {hint});
      }),
    );
    return await printResponse(response, session.hostName, invocation);
  } catch (error) {
    const {requestError} = await import('../hints/key-hints.ts');
    throw error instanceof MediaError ? requestError(error, session.settings) : error;
  } finally {
    await session.close();
  }
}

/** Builds the request. As with `gh api`, -f fields are set before -F fields, in any order on the command line. */
async function readRequest(options: GraphqlOptions, argument: string | undefined, invocation: Invocation) {
  const {rawField = [], field: typedFields = []} = options;
  const files = [options.input ?? argument, options.variables, ...typedFields.map(fileOf)];
  refuseStdinTwice(files, 'Read the query, the variables or the value from a file instead.');
  const query = await readQuery(argument, options.input, invocation);
  const variables = await readVariables(options, invocation);
  for (const field of rawField) assign(variables, field, value => value);
  for (const field of typedFields) {
    const file = fileOf(field);
    const content = file === undefined ? undefined : await readInput(file, invocation, 'a value');
    assign(variables, field, value => content ?? typedValue(value));
  }
  return Object.keys(variables).length === 0 ? {query} : {query, variables};
}

/** The object in the file of --variables, or an empty one. Without a prototype, a variable may have any name. */
async function readVariables({variables: path}: GraphqlOptions, invocation: Invocation) {
  if (path === undefined) return Object.create(null);
  const text = await readInput(path, invocation, 'the variables as JSON');
  const variables = parseObject(text, {parse: parseJson});
  if (variables !== undefined) return variables;
  throw new MediaError('usage', `${path === '-' ? 'Standard input' : path} is not a JSON object.`, {
    hint: 'Write the variables as JSON, such as {"first": 10}.',
  });
}

/** The text of the query: the argument, or what the argument `-` or --input names. It is not parsed here. */
async function readQuery(query: string | undefined, input: string | undefined, invocation: Invocation) {
  if (query !== undefined && input !== undefined)
    throw new MediaError('usage', 'The query was given twice: as an argument and with --input.', {
      hint: 'Give it once.',
    });
  const file = input ?? (query === '-' ? query : undefined);
  const text = file === undefined ? query : await readInput(file, invocation, 'a query');
  if (text === undefined || text.trim() === '')
    throw new MediaError('usage', 'There is no query to send.', {
      hint: "Give one, as in: media graphql '{__typename}'",
    });
  return text;
}

/** Reads a file, or standard input for `-`; `what` names it for a person who is to type it. */
function readInput(path: string, invocation: Invocation, what: string): Promise<string> {
  const {host} = invocation;
  if (path === '-') announceTyping(what, invocation);
  const text = path === '-' ? textOf(host.stdin) : readText(resolveUserPath(host.cwd(), path), host.files);
  return text.catch(throwAs('usage', `${path === '-' ? 'Standard input' : path} could not be read`));
}

/** Sets a variable. As with `gh api`, `name[key]=x` sets a field of an object, and `name[]=x` adds to a list. */
function assign(variables: Record<string, unknown>, field: string, parse: (text: string) => unknown): void {
  const [, name, brackets = '', text] =
    /^([_A-Za-z][_0-9A-Za-z]*)((?:\[[^[\]]*\])*)(?:=(.*))?$/s.exec(field) ?? [];
  const keys = brackets === '' ? [] : brackets.slice(1, -1).split('][');
  if (name === undefined || (text === undefined && keys.at(-1) !== ''))
    throw new MediaError('usage', `"${field}" does not set a variable.`, {
      hint: "Write name=value, as in -f id=m_123; for lists 'name[]=value', for objects 'name[key]=value'.",
    });
  const value = text === undefined ? noItem : parse(text);
  variables[name] = setAt(own(variables, name), keys, value, field);
}

/** The value of `name[]` without `=`: the list gets no item. */
const noItem = Symbol('no item');

/** Puts a value into an object, or for the key '' at the end of a list; returns it, or a new one if it is undefined. */
function setAt(target: unknown, [key, ...rest]: readonly string[], value: unknown, field: string): unknown {
  if (key === undefined) return value;
  const parent: unknown = target !== undefined ? target : key === '' ? [] : Object.create(null);
  if (key === '' && Array.isArray(parent)) {
    const last: unknown = parent.at(-1);
    // As with gh, an object in a list gets fields until one of them comes again, which begins the next object.
    const isOpen = rest[0] !== undefined && isObject(last) && own(last, rest[0]) === undefined;
    if (isOpen) setAt(last, rest, value, field);
    else if (value !== noItem || rest.length > 0) parent.push(setAt(undefined, rest, value, field));
  } else if (key !== '' && isObject(parent)) parent[key] = setAt(own(parent, key), rest, value, field);
  else
    throw new MediaError('usage', `"${field}" does not fit the variables before it.`, {
      hint: "A name is a value, a list ('name[]=value') or an object ('name[key]=value'), and stays so.",
    });
  return parent;
}

/** The file in `name=@file`, the value of a -F option; undefined if the value is on the command line. */
function fileOf(field: string): string | undefined {
  return /^[^=]*=@(.+)$/s.exec(field)?.[1];
}

/** The value of a -F field; an integer that JavaScript cannot hold exactly stays a string. */
function typedValue(value: string): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  if (value === 'null') return null;
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return value;
  // GraphQL's ID and most big-integer types accept a string.
  return isRepresentable(value) ? Number(value) : value;
}

/** Prints a response of any status, then throws if the key is refused or GraphQL errors do not explain the status. */
async function printResponse(response: HttpResponse, hostName: string, {host, stdout}: Invocation) {
  const text = response.body.toString();
  const body = parseObject(text);
  const isResponse = body !== undefined && ('data' in body || 'errors' in body);
  if (!isResponse || response.cut || response.truncated) throw responseError(response, hostName);
  const json = printableJson(text.trimEnd());
  await stdout.write(`${host.stdout.isTTY ? prettyJson(json, mayColor(host.stdout, host.env)) : json}\n`);
  // An empty list of errors is accepted as no error, although GraphQL does not allow it.
  const {errors = null} = body;
  const hasErrors = Array.isArray(errors) ? errors.length > 0 : errors !== null;
  const isSuccess = response.status >= 200 && response.status < 300;
  // GraphQL errors may come with any status and say more than the status, except if the key is refused.
  if ([401, 403, 404].includes(response.status) || (!isSuccess && !hasErrors))
    throw responseError(response, hostName);
  return hasErrors ? 1 : 0;
}

/** Why a response is a failure: its status, or for a 2xx, that it is no complete GraphQL response. */
function responseError(response: HttpResponse, hostName: string): MediaError {
  const {status} = response;
  if (status < 200 || status > 299) return describeFailure(refusalIn(response), hostName);
  const cut = response.cut && (response.fault ?? 'cut off');
  const problem = cut || (response.truncated ? 'longer than 1 MiB' : 'not a GraphQL response');
  return describeFailure({kind: 'unreadable', status, problem}, hostName);
}
