import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {spawn} from '@lydell/node-pty';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {mediaInShell, type Sandbox, sandbox} from './media.ts';

/** The effect of pressing Tab at the end of a line. */
export interface Completed {
  /** The line afterwards. */
  line: string;
  /** What the terminal showed after that: the redrawn line, and the candidates if there are several. */
  shown: string;
}

/** An interactive shell on a pseudo-terminal. */
export interface InteractiveShell {
  /** Types the line and Tab, then discards the line. */
  complete(line: string): Promise<Completed>;
}

/** Written to the terminal after the line was dumped, without being shown: everything before it has been read by then. */
const dumpedMark = '\u001b]9;dumped\u0007';
const tell = 'printf "\\033]9;dumped\\007"';

/** How to start each shell so that Ctrl-G writes its line to the file $DUMP. */
const shells = {
  bash: {
    parameters: ['--norc', '--noprofile'],
    setup: `bind 'set completion-query-items 0'; bind 'set page-completions off'; bind 'set show-all-if-ambiguous on'
      dump() { printf '%s\\n' "$READLINE_LINE" > $DUMP.new; mv $DUMP.new $DUMP; ${tell}; }; bind -x '"\\C-g": dump'`,
  },
  zsh: {
    parameters: ['-f'],
    setup: `LISTMAX=1000; unsetopt beep
      dump() { print -r -- "$BUFFER" > $DUMP.new; mv $DUMP.new $DUMP; ${tell}; }; zle -N dump; bindkey '^G' dump`,
  },
  fish: {
    parameters: ['--no-config'],
    setup: `bind \\cg 'commandline > $DUMP.new; mv $DUMP.new $DUMP; ${tell}'`,
  },
};

/** Starts a shell in the sandbox for the current test and runs these commands in it. */
export async function interactiveShell(
  name: keyof typeof shells,
  box: Sandbox,
  commands: string,
): Promise<InteractiveShell> {
  const {parameters, setup} = shells[name];
  const dump = join(box.directory, '.dump');
  const child = spawn(name, parameters, {
    cols: 200,
    rows: 200,
    cwd: box.directory,
    env: {...box.env, TERM: 'xterm', LANG: 'C.UTF-8', DUMP: dump, PS1: '$ '},
  });
  let output = '';
  let ended = false;
  child.onData(data => {
    output += data;
  });
  child.onExit(() => {
    ended = true;
  });
  afterTest(() => {
    if (!ended) child.kill('SIGKILL');
  });
  const startup = join(box.directory, '.startup');
  await writeFile(startup, `${setup}\n${commands}\necho > $DUMP.new; mv $DUMP.new $DUMP\n`);
  child.write(` source ${startup}\r`);
  const dumped = async () => {
    const text = await eventually(() => readFile(dump, 'utf8').catch(() => undefined));
    await rm(dump);
    return text.replace(/\n$/, '');
  };
  await dumped();
  return {
    async complete(line) {
      const start = output.length;
      child.write(`${line}\t\u0007`);
      const completed = await dumped();
      await eventually(() => output.includes(dumpedMark, start) || undefined);
      child.write('\u0015');
      return {line: completed, shown: stripVTControlCharacters(output.slice(start))};
    },
  };
}

/** A sandbox with `media` on its PATH, and with files that completion must distinguish. */
export async function shellSandbox(): Promise<Sandbox> {
  const box = await sandbox();
  const bin = join(box.directory, 'bin');
  await mkdir(bin);
  await mkdir(join(box.directory, 'my pictures'));
  await writeFile(join(bin, 'media'), `#!/bin/sh\nexec ${mediaInShell} "$@"\n`, {
    mode: 0o755,
  });
  const files = ['my photo.png', 'my clip.MP4', "it's.webp", 'notes.txt', 'my pictures/one two.jpg'];
  for (const file of files) await writeFile(join(box.directory, file), '');
  box.env['PATH'] = `${bin}:${box.env['PATH']}`;
  return box;
}
