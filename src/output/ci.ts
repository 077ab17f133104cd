import type {MediaError} from '../errors.ts';
import type {Host, TerminalOutput} from '../host.ts';
import {printable} from './escape.ts';

/** Whether GitHub's runner reads what this process prints (its documented variable). */
export function isGithub(env: Host['env']): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

/** Whether untrusted text has to be kept from forming workflow commands: on GitHub, or where its commands are asked for. */
export function needsGuard(argv: readonly string[], env: Host['env']): boolean {
  return (
    isGithub(env) ||
    argv.some((word, index) => word === '--ci=github' || (word === 'github' && argv[index - 1] === '--ci'))
  );
}

/**
 * The text without anything that GitHub's runner takes for a command: `::` at the start of a line, and `##[` anywhere.
 * JSON keeps its meaning, since only a string can hold these.
 */
export function withoutCommands(text: string): string {
  return text.replace(/^([\s\u0085]*):(?=:)/gm, '$1\\u003a').replaceAll('##[', '#\\u0023[');
}

const unguarded = Symbol('unguarded');

/** The same host, whose standard output and error let no command through. */
export function guarded(host: Host): Host {
  return {...host, stdout: guardedStream(host.stdout), stderr: guardedStream(host.stderr)};
}

function guardedStream(stream: TerminalOutput): TerminalOutput {
  const write = (text: unknown, ...rest: never[]) =>
    stream.write(typeof text === 'string' ? withoutCommands(text) : text, ...rest);
  return new Proxy(stream, {
    get(target, name) {
      if (name === unguarded) return stream;
      if (name === 'write') return write;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Writes a workflow command, past the guard that keeps others from doing so. */
export function writeCommand(stream: TerminalOutput, command: string): void {
  const open = (stream as TerminalOutput & {[unguarded]?: TerminalOutput})[unguarded] ?? stream;
  open.write(`${command}\n`);
}

/** An error annotation, escaped as actions/toolkit does (packages/core/src/command.ts). */
export function errorAnnotation(error: MediaError, file?: string): string {
  const properties = [
    ...(file === undefined ? [] : [`file=${escapeProperty(printable(file))}`]),
    `title=${escapeProperty(`media upload: ${error.code}`)}`,
  ];
  const text = [error.message, error.hint ?? '']
    .filter(part => part !== '')
    .map(printable)
    .join('\n');
  return `::error ${properties.join(',')}::${escapeData(text)}`;
}

function escapeData(text: string): string {
  return text
    .replaceAll('##[', '#\\u0023[')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** An entry of the file that GITHUB_OUTPUT names; the delimiter has to be one that nobody can guess. */
export function outputEntry(name: string, value: string, delimiter: string): string {
  if (value.includes(delimiter)) throw new Error('the delimiter occurs in the value');
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
