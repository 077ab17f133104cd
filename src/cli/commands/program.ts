import {type Command, Option} from 'commander';
import {MediaError} from '../../errors.ts';
import {own} from '../../lib/object.ts';
import {packageVersion} from '../../package-file.ts';
import {briefHelpFormat, helpFormat} from '../session/help-format.ts';
import {type Cli, CliCommand} from '../session/invocation.ts';
import {configCommand} from './account/config.ts';
import {loginCommand} from './account/login.ts';
import {logoutCommand} from './account/logout.ts';
import {whoamiCommand} from './account/whoami.ts';
import {completionCommand} from './completion.ts';
import {doctorCommand} from './doctor/doctor-command.ts';
import {graphqlCommand} from './graphql.ts';
import type {HelpOptions} from './help.ts';
import {helpTopics, schemaSubjects} from './help-topics.ts';
import {journalCommand} from './journal/journal-command.ts';
import {rewriteCommand} from './rewrite/rewrite-command.ts';
import {serveCommand} from './serve/serve-command.ts';
import {uploadCommand} from './upload/upload-command.ts';
import {watchCommand} from './watch/watch-command.ts';

const helpDescription = 'Print help for a command.';

const commands: Record<string, (command: CliCommand) => void> = {
  upload: uploadCommand,
  rewrite: rewriteCommand,
  login: loginCommand,
  logout: logoutCommand,
  whoami: whoamiCommand,
  doctor: doctorCommand,
  journal: journalCommand,
  graphql: graphqlCommand,
  watch: watchCommand,
  serve: serveCommand,
  config: configCommand,
  completion: completionCommand,
};

/** Builds the command tree, or the part that a command line needs; heavy modules are loaded when a command runs. */
export function buildProgram(cli: Cli): Command {
  const [first = ''] = cli.argv;
  const program = asRoot(new CliCommand('media', cli), cli)
    .description('Upload images and videos, and get their URLs.')
    .usage('<command> [options]')
    .helpCommand('help [command]', helpDescription)
    .helpList('Topics of media help:', Object.entries(helpTopics))
    .examples([
      'media upload photo.png --base-url embedded',
      'media login --base-url https://api.example.com',
      'media upload photo.png',
      "media upload -r ./photos --exclude '*.psd'",
    ]);
  const names = own(commands, first) === undefined ? Object.keys(commands) : [first];
  for (const name of names) own(commands, name)?.(program.command(name));
  helpCommand(program.command('help'), program);
  return program.helpCommand(false);
}

/** Declares `media help`; unlike commander's own, it knows topics, and reports commands that do not exist. */
function helpCommand(help: CliCommand, program: Command): void {
  help
    .description(helpDescription)
    .argument('[command...]', 'a command and its subcommand, or a topic')
    .option('--json', 'print all commands, options, exit statuses and error codes as JSON, or one command')
    .option('--man', 'print the manual page, for man -l -')
    .addOption(
      new Option('--schema <name>', 'print the JSON Schema of a kind of output').choices(
        Object.keys(schemaSubjects),
      ),
    )
    .exclusive('--json', '--man', '--schema')
    .examples([
      'media help upload',
      'media help exit-codes',
      'media help upload --json',
      'media help --schema upload',
      'media help --man',
    ])
    .runs(async (options: HelpOptions, {stdout}, words: string[]) => {
      const {runHelp} = await import('./help.ts');
      return runHelp(options, words, program, stdout);
    });
}

/** Makes a command the root of a program: with the global options, and with all that commander prints in cli.output. */
export function asRoot(program: CliCommand, cli: Cli): CliCommand {
  const write = (text: string) => {
    cli.output += text;
  };
  return program
    .optionWithDefault('--profile <name>', 'use the settings of this profile (MEDIA_PROFILE)', 'default')
    .option('--base-url <url>', 'the service; "embedded" starts one inside this command (MEDIA_BASE_URL)')
    .option('-q, --quiet', 'print only results and failures, no warnings, progress or summary')
    .option('-v, --verbose', 'print each step')
    .option('--no-progress', 'do not show progress')
    .option('--cacert <file>', 'trust the certificate authorities in this PEM file')
    .option('--allow-http', 'allow http:// for services on other machines')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print help, with examples')
    .configureHelp(cli.argv.includes('-h') ? briefHelpFormat : helpFormat)
    .configureOutput({
      writeOut: write,
      writeErr: write,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => cli.host.stdout.columns || 100,
      getErrHelpWidth: () => cli.host.stdout.columns || 100,
    })
    .exitOverride()
    .hook('preAction', (_, command) => refuseWords(command, cli.argv));
}

/** Refuses -0, and empty arguments and values: `media upload -r "$unset"` must not upload the working directory. */
function refuseWords(command: Command, argv: readonly string[]): void {
  // Commander takes it for a number.
  const digit = argv.includes('--') ? undefined : command.args.find(word => /^-./.test(word));
  if (digit) command.error(`error: unknown option '${digit}'`, {code: 'commander.unknownOption'});
  const refuse = (what: string): never => {
    throw new MediaError('usage', `${what} is empty.`, {
      hint: 'If it comes from a variable, that variable is not set.',
    });
  };
  if (command.args.includes('')) refuse('An argument');
  for (let at: Command | null = command; at !== null; at = at.parent)
    for (const option of at.options) {
      const value: unknown = at.getOptionValue(option.attributeName());
      if (value === '' || (Array.isArray(value) && value.includes('')))
        refuse(`The value of ${option.long ?? option.short}`);
    }
}
