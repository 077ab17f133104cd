import {execa} from 'execa';
import {mediaInShell, type Sandbox} from '../../support/media.ts';

/** A key that no output may contain. */
export const secret = 'mk_a-key-that-nobody-should-see-in-any-output';

/** What a hint ends with, after its last colon. */
export function commandIn(stderr: string): string {
  return /: ([^:]*(?:https?:[^ ]*)?[^:]*)\n$/.exec(stderr)?.[1] ?? 'false';
}

/** Pastes a command line into a shell on this machine, which finds `media`. */
export function paste(box: Sandbox, command: string, input = '') {
  const media = `media() { ${mediaInShell} "$@"; }\n`;
  return execa('bash', ['-c', `${media}${command}`], {
    cwd: box.directory,
    env: box.env,
    extendEnv: false,
    reject: false,
    input,
  });
}
