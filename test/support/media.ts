import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa, type Options, type ResultPromise} from 'execa';
import {afterTest} from './after-test.ts';
import {patienceMs} from './patience.ts';
import {checkJsonLines} from './schemas.ts';
import {canRunWarm, type Finished, runWarm} from './warm.ts';

/** The real program. */
export const program = fileURLToPath(new URL('../../bin/media.js', import.meta.url));

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
      ...env,
    };
  }

  /**
   * Runs `media` with these arguments until it ends; rejects only if it prints a line of JSON that does not fit its schema, so
   * check exitCode and signal.
   */
  async run(parameters: readonly string[], options: Options = {}): Promise<Finished> {
    const finished = await this.#run(parameters, options);
    checkJsonLines(parameters, String(finished.stdout ?? ''), String(finished.stderr ?? ''));
    return finished;
  }

  async #run(parameters: readonly string[], options: Options = {}): Promise<Finished> {
    const {env = this.env, cwd = this.directory, timeout = patienceMs, stdin, input, ...others} = options;
    const given = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const isPlain = Object.keys(others).length === 0 && typeof cwd === 'string';
    // An upload may ask what its standard input is: a pipe, a file or a terminal.
    const hasText = parameters[0] !== 'upload' && stdin === 'pipe' && typeof input === 'string';
    if (isPlain && (hasText || (stdin ?? input) === undefined) && canRunWarm(parameters, given))
      return runWarm({parameters, env: given, cwd, timeoutMs: timeout, ...(hasText && {input})});
    const {stdout, stderr, exitCode, signal} = await this.start(parameters, options);
    return {stdout, stderr, exitCode, signal};
  }

  /** Starts `media` in a new process, to send it signals, read its output while it runs, or see it end. */
  start(parameters: readonly string[], options: Options = {}) {
    return execa(process.execPath, [program, ...parameters], {
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
