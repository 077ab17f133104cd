import type {Invocation} from '../../../cli/invocation.ts';
import type {OutputFormat, ResultOptions, Results} from '../../../output/results/results.ts';
import type {Inputs} from '../setup/inputs.ts';

/** Receives the results of a run. */
export type ResultSink = Pick<Results, 'add' | 'end'>;

/** The inputs and results of a command that uploads for its own purpose, and draws its own conclusion at the end. */
export interface OwnParts {
  /** Those that its options name, if it does not bring its own. */
  inputs: Inputs | undefined;
  results: ResultSink;
}

/** The parts of a command that brings them itself. */
export function ownParts(output: OutputFormat | OwnParts): OwnParts | undefined {
  return typeof output === 'object' && 'results' in output ? output : undefined;
}

/** Creates the printer of results on standard output, with the width and colours of that stream. */
export async function openResults(
  {host, stdout, report}: Invocation,
  output: OutputFormat | OwnParts,
  kind: Pick<ResultOptions, 'several' | 'dryRun'>,
): Promise<ResultSink> {
  if (typeof output === 'object' && 'results' in output) return output.results;
  const [{Results}, {mayColor, widthOf}] = await Promise.all([
    import('../../../output/results/results.ts'),
    import('../../../output/terminal.ts'),
  ]);
  return new Results(stdout, {
    ...kind,
    format: output,
    width: () => widthOf(host.stdout),
    isBrief: host.stdout.isTTY !== true && report.level !== 'verbose',
    color: mayColor(host.stdout, host.env),
  });
}
