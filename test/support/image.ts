import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {DockerfileParser} from 'dockerfile-ast';
import {execa} from 'execa';
import type {TestContext} from 'vitest';
import {needPrograms, notRun} from './installed.ts';
import {temporaryDirectory} from './media.ts';
import {slowTest} from './patience.ts';

export const dockerfile = await readFile(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');

/** What the Dockerfile says of the image of a stage, or of the last one. */
export function imageOf(stage?: string) {
  const instructions = DockerfileParser.parse(dockerfile).getInstructions();
  const starts = instructions.flatMap((one, index) => (one.getKeyword() === 'FROM' ? [index] : []));
  const isNamed = (index: number) => instructions[index]?.getArgumentsContent()?.endsWith(` AS ${stage}`);
  const start = (stage === undefined ? starts.at(-1) : starts.find(isNamed)) ?? 0;
  const end = starts.find(index => index > start);
  const image = instructions.slice(start, end);
  const argumentsOf = (keyword: string): string =>
    image.find(one => one.getKeyword() === keyword)?.getArgumentsContent() ?? '';
  const variables = Object.fromEntries(
    argumentsOf('ENV')
      .split(/\s+/)
      .map(pair => pair.split('=', 2)),
  ) as Record<string, string>;
  return {
    argumentsOf,
    variables,
    listOf: (keyword: string): string[] =>
      JSON.parse(argumentsOf(keyword).replace(/^.*?CMD\s+|^[^[]*/, '')) as string[],
  };
}

/** Skips the test unless it may build an image's tree out of this machine's /usr, which takes the place of the base image. */
export function needTrees(context: TestContext): void {
  needPrograms(context, ['unshare', 'mount']);
  if (process.getuid?.() !== 0) notRun(context, 'another user is for root alone to become');
}

/** Lines of a script that say where it could write a file, then that it has tried. */
export function writeAttempts(directories: readonly string[]): string {
  return `for directory in ${directories.join(' ')}; do
  touch "$directory/written" 2> /dev/null && echo "wrote to $directory"
done
echo read-only`;
}

/** An empty image on this base, or on this machine's /usr, and the directories that its container may write to. */
export async function imageTree(writable: readonly string[], base?: string) {
  const directory = await temporaryDirectory();
  const tree = join(directory, 'tree');
  const ofMachine = ['opt', 'usr', 'etc', 'dev', 'proc', ...writable];
  for (const name of base === undefined ? ofMachine : ['', '../layer'])
    await mkdir(join(tree, name), {recursive: true});
  if (base === undefined)
    for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(tree, name));
  const mountBase =
    base === undefined
      ? 'mount --bind "$tree" "$tree"; for name in usr etc; do mount --rbind "/$name" "$tree/$name"; done'
      : `mount -t tmpfs tmpfs "$1/layer"; mkdir "$1/layer/upper" "$1/layer/work"
      mount -t overlay overlay -o "lowerdir=${base},upperdir=$1/layer/upper,workdir=$1/layer/work" "$tree"`;
  for (const name of writable) await mkdir(join(directory, name));
  return {
    tree,
    at: (path: string) => join(directory, path),
    /** Runs a script as a user, in a namespace of its own, with a root that cannot be written; `lay` puts files below $tree first. */
    async run(script: string, options: RunOptions) {
      const {user, env, parameters, lay = ''} = options;
      await writeFile(join(directory, 'tmp/visit.sh'), script);
      const mounts = writable.map(
        name =>
          `mount --bind "$1/${name}" "$tree/${name}"; chown ${user} "$tree/${name}"; chmod 1777 "$tree/${name}"`,
      );
      const enter = `
      set -e
      tree="$1/tree"
      ${mountBase}
      mount --rbind /dev "$tree/dev"
      ${mounts.join('\n')}
      mount -t proc proc "$tree/proc"
      ${lay}
      ${base === undefined ? 'mount -o remount,bind,ro "$tree/usr"' : ''}
      mount -o remount,bind,ro "$tree"
      shift
      exec chroot --userspec=${user} "$tree" sh /tmp/visit.sh "$@"`;
      const unshare = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', directory];
      const limits = {extendEnv: false, reject: false, ...slowTest};
      const {stdout, stderr, exitCode} = await execa('unshare', [...unshare, ...parameters], {
        env,
        ...limits,
      });
      return {stdout, stderr, exitCode};
    },
  };
}

interface RunOptions {
  user: string;
  env: Record<string, string>;
  parameters: readonly string[];
  lay?: string;
}
