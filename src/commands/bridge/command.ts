import {CliCommand} from '../../cli/command.ts';
import type {Cli} from '../../cli/invocation.ts';
import {collect, wholeNumber} from '../../cli/values.ts';
import {runBridge} from './run.ts';

/** The port of the PicGo server, which editors use if nothing else is entered. */
const picGoPort = 36_677;

export function bridgeCommand(cli: Cli): CliCommand {
  return new CliCommand('bridge', cli)
    .description('Upload for editors that use a PicGo server, until you stop it.')
    .option('--port <n>', 'the port to listen on; 0 for any free port', wholeNumber(0, 65_535), picGoPort)
    .option('--root <directory>', 'upload only files below this directory (repeatable)', collect)
    .examples(['media bridge', 'media bridge --root ~/notes --root ~/Pictures'])
    .runs(runBridge);
}
