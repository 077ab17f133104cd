import {type Cli, CliCommand} from '../../cli/invocation.ts';
import {collect, geotagsOption, wholeNumber} from '../../cli/values.ts';
import type {BridgeOptions} from './run.ts';

/** The port of the PicGo server, which editors use if nothing else is entered. */
const picGoPort = 36_677;

export function bridgeCommand(cli: Cli): CliCommand {
  return new CliCommand('bridge', cli)
    .description('Upload for editors that use a PicGo server, until you stop it.')
    .option('--port <n>', 'the port to listen on; 0 for any free port', wholeNumber(0, 65_535), picGoPort)
    .option('--root <directory>', 'upload only files below this directory', collect)
    .addOption(geotagsOption())
    .examples(['media bridge', 'media bridge --root ~/notes --root ~/Pictures'])
    .runs(async (options: BridgeOptions, invocation) => {
      const {runBridge} = await import('./run.ts');
      return runBridge(options, invocation);
    });
}
