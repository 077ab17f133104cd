import type {Command} from 'commander';
import {MediaError} from '../../errors.ts';
import {packageText, packageVersion} from '../../package-file.ts';
import type {Stdout} from '../output/stdout.ts';
import {helpTopics} from './help-topics.ts';

export interface HelpOptions {
  json?: boolean;
  man?: boolean;
  /** A name in schemaSubjects. */
  schema?: string;
}

/** A command in man/help.json, which `npm run completions` makes of the declarations. */
interface DescribedCommand {
  name: string;
  commands: readonly DescribedCommand[];
}

/** Runs `media help`; `words` name a command or a topic. `journal` is both: its help ends with the topic. */
export async function runHelp(
  {json, man, schema}: HelpOptions,
  words: readonly string[],
  program: Command,
  stdout: Stdout,
): Promise<void> {
  if (man) return stdout.write(packageText('man/media.1'));
  if (schema !== undefined) return stdout.write(packageText(`docs/schemas/${schema}.json`));
  const [topic = '', ...others] = words;
  const isTopic = Object.hasOwn(helpTopics, topic);
  const isOnlyTopic = isTopic && !program.commands.some(command => command.name() === topic);
  if (isOnlyTopic && (json || others.length > 0))
    throw new MediaError('usage', `media help ${topic} takes neither arguments nor --json.`, {
      hint: `To read it, run: media help ${topic}`,
    });
  if (isOnlyTopic) return stdout.write(packageText(`man/${topic}.txt`));
  const command = await commandOf(words, program);
  if (json) return stdout.write(describeCommand(words));
  if (isTopic && others.length === 0)
    command.addHelpText('after', `\n${packageText(`man/${topic}.txt`).trimEnd()}`);
  command.help();
}

/** The command of these words, or the program without words; for an unknown word, commander suggests another. */
async function commandOf(words: readonly string[], program: Command): Promise<Command> {
  let command = program;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find(command => command.name() === word);
    // Commander throws its error, with the suggestion, when it runs the words; a command without subcommands takes any.
    if (next === undefined && command.commands.length > 0)
      await program.parseAsync(words.slice(0, index + 1), {from: 'user'});
    if (next === undefined) throw new MediaError('usage', `There is no command "${words.join(' ')}".`);
    command = next;
  }
  return command;
}

/** The JSON for the command that the words name, which exists, on one line; without words, for the whole program. */
function describeCommand(words: readonly string[]): string {
  let command: DescribedCommand = JSON.parse(packageText('man/help.json'));
  for (const word of words) command = command.commands.find(({name}) => name === word) ?? command;
  return `${JSON.stringify(words.length === 0 ? {version: packageVersion(), ...command} : command)}\n`;
}
