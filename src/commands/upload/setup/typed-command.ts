import type {Invocation} from '../../../cli/invocation.ts';
import type {UploadFlags} from './flags.ts';

/** How the run was called, for hints about the same service. */
export interface TypedCommand {
  /** All that was typed after `media`. */
  argv: readonly string[];
  /** The options among it, except those that select the inputs. */
  options: readonly string[];
  /** Whether the same command would read the same inputs: a pipe can be read only once. */
  isRepeatable: boolean;
}

/** The options that select and name the inputs. */
const inputOptions = new Set([...['recursive', 'all', 'exclude', 'filesFrom', 'shard', 'name', 'clipboard']]);

/** The command line that this run was started by. */
export function typedCommand({inputs, filesFrom = []}: UploadFlags, invocation: Invocation): TypedCommand {
  const streams = [...inputs.filter(input => input === '-'), ...filesFrom.filter(isStream)];
  return {argv: invocation.argv, options: invocation.given(inputOptions), isRepeatable: streams.length === 0};
}

function isStream(list: string): boolean {
  return list === '-' || /^\/(dev|proc)\//.test(list);
}
