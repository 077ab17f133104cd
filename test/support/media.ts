import {existsSync, symlinkSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa, type Options, type ResultPromise} from 'execa';
import type {TestContext} from 'vitest';
import {systemCode} from '../../src/lib/system-code.ts';
import {afterTest} from './after-test.ts';
import {notRun} from './installed.ts';
import {patienceMs} from './patience.ts';
import {checkJsonLines} from './schemas.ts';
import {canRunWarm, type Finished, runWarm} from './warm.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The real program, as Node runs it. */
export const program = fileURLToPath(new URL('../../bin/media.js', import.meta.url));

/** A single executable that is tested in its place, if MEDIA_TEST_PROGRAM names one. */
export const testedExecutable = testedProgram(process.env['MEDIA_TEST_PROGRAM']);

/** The words of a command line that start `media`. */
export const mediaCommand: readonly [string, ...string[]] =
  testedExecutable === undefined ? [process.execPath, program] : [testedExecutable];

/** The same, for a shell. */
export const mediaInShell = mediaCommand.map(word => `'${word}'`).join(' ');

/** The program `media-url`, a file that can be started. */
export const mediaUrl =
  testedExecutable === undefined
    ? fileURLToPath(new URL('../../bin/media-url.js', import.meta.url))
    : linkedMediaUrl(testedExecutable);

/** Skips a test that changes the program by options of Node, or counts on the clone: an executable takes and has none. */
export function needNode(context: TestContext): void {
  if (testedExecutable !== undefined) notRun(context, 'only as Node runs it, not as an executable');
}

function testedProgram(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const executable = resolve(root, path);
  if (!existsSync(executable)) throw new Error(`MEDIA_TEST_PROGRAM is ${executable}, which does not exist.`);
  return executable;
}

/** An executable knows by its name that it is started as `media-url`. */
function linkedMediaUrl(executable: string): string {
  const link = join(dirname(executable), 'media-url');
  try {
    symlinkSync(executable, link);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return link;
}

/** The path of one of the project's own media files. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** A new directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'media-test-'));
  afterTest(() => rm(directory, {recursive: true, force: true}));
  return directory;
}

/**
 * An isolated machine for one test: home, settings, data and temporary files in one directory, and no inherited
 * environment.
 */
export class Sandbox {
  readonly directory: string;
  /** Added to the environment of every run. */
  readonly env: Record<string, string>;

  constructor(directory: string, env: Record<string, string> = {}) {
    this.directory = directory;
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      TMPDIR: directory,
      MEDIA_CONFIG_DIR: join(directory, 'config'),
      XDG_DATA_HOME: join(directory, 'data'),
      // Nothing is installed beside an executable.
      ...(testedExecutable !== undefined && {MEDIA_SHARP: join(root, 'node_modules/sharp')}),
      ...env,
    };
  }

  /**
   * Runs `media` with these arguments until it ends; rejects only if it prints a line of JSON that does not fit its schema, so
   * check exitCode and signal.
   */
  async run(parameters: readonly string[], options: Options = {}): Promise<Finished> {
    const finished = await this.#run(parameters, options);
    const {stdout, stderr} = finished;
    checkJsonLines(parameters, String(stdout ?? ''), String(stderr ?? ''));
    // Every 10 s, a run reports its progress, so that only a slow machine has any.
    const progress = /^.*; \d+ (of \d+\+? )?files?, .*B\/s.*\n/gm;
    return typeof stderr === 'string' ? {...finished, stderr: stderr.replace(progress, '')} : finished;
  }

  async #run(parameters: readonly string[], options: Options = {}): Promise<Finished> {
    const {env = this.env, cwd = this.directory, timeout = patienceMs, stdin, input, ...others} = options;
    const given = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const isPlain = Object.keys(others).length === 0 && typeof cwd === 'string';
    // An upload may ask what its standard input is: a pipe, a file or a terminal.
    const hasText = parameters[0] !== 'upload' && stdin === 'pipe' && typeof input === 'string';
    if (
      testedExecutable === undefined &&
      isPlain &&
      (hasText || (stdin ?? input) === undefined) &&
      canRunWarm(parameters, given)
    )
      return runWarm({parameters, env: given, cwd, timeoutMs: timeout, ...(hasText && {input})});
    const {stdout, stderr, exitCode, signal} = await this.#start(parameters, options);
    return {stdout, stderr, exitCode, signal};
  }

  /**
   * Starts `media` in a new process, to send it signals, read its output while it runs, or see it end. The test fails if a line of
   * JSON that it has read does not fit its schema.
   */
  start(parameters: readonly string[], options: Options = {}) {
    const child = this.#start(parameters, options);
    // Without a buffer, the test decides when the output is read.
    if (options.buffer === false) return child;
    const [stdout, stderr] = [child.stdout, child.stderr].map(stream => {
      const chunks: Buffer[] = [];
      stream?.on('data', chunk => chunks.push(Buffer.from(chunk)));
      return () => Buffer.concat(chunks).toString();
    });
    afterTest(() => checkJsonLines(parameters, stdout?.() ?? '', stderr?.() ?? ''));
    return child;
  }

  #start(parameters: readonly string[], options: Options) {
    const [file, ...words] = mediaCommand;
    return execa(file, [...words, ...parameters], {
      cwd: this.directory,
      env: this.env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      stripFinalNewline: false,
      timeout: patienceMs,
      // Not SIGTERM, by which a program that heeds it would seem to have ended.
      killSignal: 'SIGKILL',
      ...options,
    }) as ResultPromise<{reject: false; stripFinalNewline: false; encoding: 'utf8'}>;
  }
}

/** A sandbox for the current test. */
export async function sandbox(env: Record<string, string> = {}): Promise<Sandbox> {
  return new Sandbox(await temporaryDirectory(), env);
}
