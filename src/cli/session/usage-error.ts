import type {Command, CommanderError} from 'commander';
import {withScheme} from '../../engine/service/service-url.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {shellWord} from '../../lib/shell.ts';
import {type GlobalOptions, loginCommandFor} from '../settings/hint-options.ts';
import {shownBaseUrl} from '../settings/parse.ts';

/** Turns commander's error into one sentence, with a hint what to type instead. */
export function usageError(
  error: CommanderError,
  argv: readonly string[],
  program: Command,
  host: Host,
): MediaError {
  const pattern = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s;
  // The value of an unknown option may be anything, for example a key.
  const text = error.message.replace(/^(error: unknown option '(?:--[^'=]*(?==)|-k)).*'/s, "$1'");
  const [, sentence = '', similar] = pattern.exec(text) ?? [];
  const [, word = ''] = /unknown (?:command|option) '(.*)'$/s.exec(sentence) ?? [];
  const command = commandIn(argv, program);
  const options = [...command.options, ...program.options];
  const isOption = (hint: string) => options.some(({long}) => long === /--[\w-]+/.exec(hint)?.[0]);
  const suggestion =
    otherNames.find(([name, hint]) => word.startsWith(`--${name}`) && isOption(hint))?.[1] ?? similar;
  const login = loginCommandFor({host, globals: program.opts<GlobalOptions>()});
  if (error.code === 'commander.unknownOption' && isKeyOption(word))
    return noKeyOptionError(login, host, command);
  if (isOption(word) && error.message.includes(`'${word}=`))
    return new MediaError('usage', `The option ${word} takes no value.`, {
      hint: `Write ${word} on its own, or leave it out.`,
    });
  if (error.code === 'commander.excessArguments' && command.name() === 'login')
    return noLoginArgumentError(command, login, host);
  const isOfProgram = error.code === 'commander.unknownCommand' && command === program;
  const advise = () => {
    // What a shell makes of `*` may begin with a dash; after `--`, nothing is taken for an option.
    const isFile = (argument: string) => /^-./.test(argument) && exists(argument, host);
    const file = argv.includes('--') ? undefined : argv.find(isFile);
    if (file !== undefined) return `To name the file: ${fullName(command)} ${shellWord(`./${file}`)}`;
    if (isOfProgram && storedFilesCommand.test(word))
      return 'To list and delete stored files, send queries: media graphql --help';
    if (suggestion) return suggestion;
    return isOfProgram && isInput(word, host)
      ? `To upload: media upload ${shellWord(word)}`
      : `For help, run: ${fullName(command)} --help`;
  };
  return new MediaError(
    'usage',
    `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.?$/, '.')}`,
    // No cause: --verbose would print it, and it quotes the command line.
    {hint: advise()},
  );
}

/** What to use instead of options of other programs; commander would suggest the opposite of some, or nothing. */
const otherNames: readonly (readonly [option: string, hint: string])[] = [
  ['incl', 'To take only some files, give a pattern as the input, or leave out others with --exclude.'],
  ['url', 'Did you mean --format url?'],
  ['url', 'Did you mean --base-url?'],
  ['silent', 'Did you mean --quiet?'],
  ['cors', 'Did you mean --allow-origin?'],
  ['progress', 'Leave it out: only --no-progress changes what is shown.'],
];

/** The command that the words name, as far as they match. */
function commandIn(argv: readonly string[], program: Command): Command {
  let command = program;
  for (const word of argv) command = command.commands.find(child => child.name() === word) ?? command;
  return command;
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** Whether users may expect this option to take a key. */
function isKeyOption(word: string): boolean {
  return /^(-k|--(api|auth|access|bearer)?-?(key|token)|--(secret|password|bearer))$/.test(word);
}

function noKeyOptionError(login: string, {env}: Host, command: Command): MediaError {
  const message = 'No option or argument takes a key, because other users can read command lines.';
  const ofService = 'Set MEDIA_SERVE_KEY to a key of at least 16 characters.';
  const hint = env['MEDIA_API_KEY']
    ? 'Leave it out: the key in MEDIA_API_KEY is used.'
    : `Set MEDIA_API_KEY, or store the key: ${login}`;
  return new MediaError('usage', message, {hint: command.name() === 'serve' ? ofService : hint});
}

/** The error for an argument of `media login`: a URL is taken for the base URL, anything else for a key. */
function noLoginArgumentError(command: Command, login: string, host: Host): MediaError {
  const url = command.args.map(withScheme).find(word => /^https?:\/\//.test(word) && URL.canParse(word));
  if (url === undefined) return noKeyOptionError(login, host, command);
  const hint = `Set the service with --base-url: ${login} --base-url ${shellWord(shownBaseUrl(url, 'URL'))}`;
  return new MediaError('usage', 'media login takes no arguments.', {hint});
}

/** Commands that users may expect to work on stored files. */
const storedFilesCommand = /^(list|ls|get|find|search|delete|del|rm|remove)$/;

function exists(path: string, {cwd, files}: Host): boolean {
  return files.existsSync(resolveUserPath(cwd(), path));
}

/** Whether a word names something on the disk, has an extension, a slash or a pattern, or is `-`. */
function isInput(word: string, host: Host): boolean {
  return word === '-' || /[*?[\]/\\]|\.[a-z\d]{2,5}$/i.test(word) || exists(word, host);
}
