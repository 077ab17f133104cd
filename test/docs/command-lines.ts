import {type Command, CommanderError} from 'commander';
import {buildMediaUrl} from '../../src/cli/commands/media-url.ts';
import {buildProgram} from '../../src/cli/commands/program.ts';
import {Stdout} from '../../src/cli/output/stdout.ts';
import {systemHost} from '../../src/host.ts';

export const host = systemHost();
const stdout = new Stdout(host.stdout);

/** The command tree of a program with nothing to do in it, and what it writes. */
export function inertProgram(build: typeof buildProgram = buildProgram) {
  const cli = {host, stdout, argv: [], optionsRead: [], output: '', status: 0, abandon: () => {}};
  const program = build(cli);
  for (const command of commandsBelow(program)) if (command.commands.length === 0) command.action(() => {});
  return {program, cli};
}

export function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}

export function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** Splits a command line as a shell would, up to a redirection. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/['"]/g, ''),
  );
  const end = words.findIndex(word => word === '>' || word === '<');
  return end < 0 ? words : words.slice(0, end);
}

/** What commander has against a command line that begins with `media`; undefined when it takes it. */
export async function complaint(line: string): Promise<string | undefined> {
  const [, ...words] = wordsOf(line);
  try {
    await inertProgram().program.parseAsync(words, {from: 'user'});
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    return error.message;
  }
}

/** Every command, the program itself included. */
export const everyCommand = commandsBelow(inertProgram().program);
/** The long names of all options, those of media-url included. */
export const options = new Set(
  [...everyCommand, inertProgram(buildMediaUrl).program].flatMap(command =>
    command.options.map(({long}) => long),
  ),
);
