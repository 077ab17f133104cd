import {MediaError} from '../errors.ts';
import type {TerminalInput, TerminalOutput} from '../host.ts';
import {mayColor, withoutColor} from '../output/terminal.ts';
import type {Invocation} from './invocation.ts';

/** Asks for a line of text on the terminal, through standard error. Rejects with `interrupted` if cancelled. */
export async function askText(
  invocation: Invocation,
  message: string,
  check: (value: string) => void,
): Promise<string> {
  const {text} = await import('@clack/prompts');
  return answered(await text({message, validate: value => complaint(value, check), ...streams(invocation)}));
}

/** Asks for a secret, which is not shown. */
export async function askSecret(
  invocation: Invocation,
  message: string,
  check: (value: string) => void,
): Promise<string> {
  const {password} = await import('@clack/prompts');
  return answered(
    await password({message, validate: value => complaint(value, check), ...streams(invocation)}),
  );
}

/** Node.js 20 styles the prompts whatever NO_COLOR says. */
function streams({host}: Invocation): {input: TerminalInput; output: TerminalOutput} {
  const color = mayColor(host.stderr, host.env);
  const output: TerminalOutput = color ? host.stderr : withoutColor(host.stderr);
  return {input: host.stdin, output};
}

function complaint(value: string | undefined, check: (value: string) => void): string | undefined {
  try {
    check(value ?? '');
    return undefined;
  } catch (error) {
    if (error instanceof MediaError) return [error.message, error.hint].filter(Boolean).join(' ');
    throw error;
  }
}

function answered(answer: string | symbol | undefined): string {
  // A symbol means that the prompt was cancelled.
  if (typeof answer !== 'string') throw new MediaError('interrupted', 'Nothing was stored.');
  return answer;
}
