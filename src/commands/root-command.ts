import type {Command} from 'commander';
import {globalHeading, helpConfiguration} from '../cli/help-format.ts';
import type {Cli} from '../cli/invocation.ts';
import {MediaError} from '../errors.ts';
import {packageVersion} from '../package-file.ts';

/** The text that commander printed: help and the version for standard output, and errors, which are reworded. */
export interface Written {
  out: string;
  err: string;
}

/** Makes a command the root of a program: with the global options, and all its output in `written`. */
export function asRoot(program: Command, cli: Cli, written: Written): Command {
  return program
    .optionsGroup(globalHeading)
    .option('--profile <name>', 'use the settings of this profile (MEDIA_PROFILE; default: default)')
    .option('--base-url <url>', 'the service; "embedded" starts one inside this command (MEDIA_BASE_URL)')
    .option('-q, --quiet', 'print only failures')
    .option('-v, --verbose', 'print each step')
    .option('--cacert <file>', 'trust the certificate authorities in this PEM file')
    .option('--allow-http', 'allow http:// for services on other machines')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print help, with examples')
    .configureHelp(helpConfiguration)
    .configureOutput({
      writeOut: text => {
        written.out += text;
      },
      writeErr: text => {
        written.err += text;
      },
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => cli.host.stdout.columns || 100,
      getErrHelpWidth: () => cli.host.stdout.columns || 100,
    })
    .exitOverride()
    .hook('preAction', (_, command) => refuseEmptyValues(command));
}

/**
 * Refuses empty arguments and empty option values: `media upload -r "$photos"` must not upload the working directory if the
 * variable is not set.
 */
export function refuseEmptyValues(command: Command): void {
  if (command.args.includes('')) throw isEmpty('An argument');
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const value: unknown = at.getOptionValue(option.attributeName());
      if (value === '' || (Array.isArray(value) && value.includes('')))
        throw isEmpty(`The value of ${option.long ?? option.short}`);
    }
  }
}

function isEmpty(what: string): MediaError {
  return new MediaError('usage', `${what} is empty.`, {
    hint: 'If it comes from a variable, that variable is not set.',
  });
}
