import {Command} from 'commander';
import {examples} from '../../cli/help-format.ts';
import {type Cli, invocationOf} from '../../cli/invocation.ts';
import {collect, wholeNumber} from '../../cli/values.ts';
import {type BridgeOptions, runBridge} from './run.ts';

/** The port of the PicGo server, which editors use if nothing else is entered. */
const picGoPort = 36_677;

/** Declares `media bridge`. */
export function bridgeCommand(cli: Cli): Command {
  return new Command('bridge')
    .description('Upload for editors that use a PicGo server, until you stop it.')
    .option('--port <n>', 'the port to listen on; 0 for any free port', wholeNumber(0, 65_535), picGoPort)
    .option('--root <directory>', 'upload only files below this directory (repeatable)', collect)
    .addHelpText('after', context =>
      examples(context, ['media bridge', 'media bridge --root ~/notes --root ~/Pictures']),
    )
    .action(async (options: BridgeOptions, command: Command) => {
      cli.status = await runBridge(options, invocationOf(cli, command));
    });
}
