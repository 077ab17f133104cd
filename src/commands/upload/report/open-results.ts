import type {Invocation} from '../../../cli/invocation.ts';
import type {ResultOptions, Results} from '../../../output/results/results.ts';

/** Creates the printer of results on standard output, with the width and colours of that stream. */
export async function openResults(
  {host, stdout, globals, report}: Invocation,
  kind: Pick<ResultOptions, 'format' | 'several' | 'dryRun'>,
): Promise<Results> {
  const [{Results}, {mayColor, mayLink, widthOf}] = await Promise.all([
    import('../../../output/results/results.ts'),
    import('../../../output/terminal.ts'),
  ]);
  const color = mayColor(host.stdout, host.env, globals.color);
  return new Results(stdout, {
    ...kind,
    width: () => widthOf(host.stdout),
    isBrief: host.stdout.isTTY !== true && report.level !== 'verbose',
    color,
    links: mayLink(host.stdout, host.env, color),
  });
}
