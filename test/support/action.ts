import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {execa} from 'execa';
import {parse} from 'yaml';
import {mediaInShell, type Sandbox, temporaryDirectory} from './media.ts';
import {type Release, servedRelease} from './release.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Action {
  inputs: Record<string, {required: boolean; default?: string; description: string}>;
  outputs: Record<string, {description: string}>;
  runs: {using: string; main: string};
}

export const action = parse(await readFile(join(root, 'action.yml'), 'utf8')) as Action;

/** A release whose executable is the program as it is built here. */
export function ownRelease(): Promise<Release> {
  return servedRelease(`#!/bin/sh\nexec ${mediaInShell} "$@"\n`);
}

/** What the action's Node.js runs. Older ones than the runner's do not run TypeScript: they get it translated, at the same place. */
async function entry(): Promise<string> {
  const main = join(root, action.runs.main);
  if ('typescript' in process.features && process.features.typescript) return main;
  const copy = await temporaryDirectory();
  const outfile = join(copy, action.runs.main.replace(/\.ts$/, '.js'));
  await build({
    entryPoints: [main],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  await copyFile(join(root, 'package.json'), join(copy, 'package.json'));
  return outfile;
}

/**
 * Runs the action as the runner does: by its own Node.js, with inputs as variables and a file for the outputs. Nothing
 * is in PATH.
 */
export async function runAction(
  box: Sandbox,
  inputs: Record<string, string>,
  job: Record<string, string> = {},
  /** Resolves when the job is cancelled, which the runner does by this signal first. */
  cancelled?: Promise<unknown>,
) {
  const at = (name: string) => join(box.directory, name);
  for (const name of ['summary', 'output', 'path']) await writeFile(at(name), '');
  await mkdir(at('empty'), {recursive: true});
  const given = Object.entries(action.inputs).map(([name, input]) => [
    `INPUT_${name.toUpperCase()}`,
    inputs[name] ?? input.default ?? '',
  ]);
  const running = execa(process.execPath, [await entry()], {
    cwd: box.directory,
    env: {
      ...box.env,
      PATH: at('empty'),
      ...job,
      ...Object.fromEntries(given),
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: at('output'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_PATH: at('path'),
      RUNNER_TEMP: at('runner-temp'),
    },
    extendEnv: false,
    reject: false,
  });
  void cancelled?.then(() => running.kill('SIGINT'));
  const {exitCode, stdout, stderr} = await running;
  const outputs: Record<string, string> = {};
  for (const [, name = '', , value = ''] of (await readFile(at('output'), 'utf8')).matchAll(
    /^(\w+)<<(ghadelimiter_\S+)\n(.*?)\n?\2$/gms,
  ))
    outputs[name] = value;
  const [summary = '', path = ''] = await Promise.all(
    ['summary', 'path'].map(name => readFile(at(name), 'utf8')),
  );
  return {exitCode, stdout, stderr, outputs, summary, path};
}
