import {MediaError} from '../../errors.ts';
import type {RewriteFlags} from './flags.ts';

/** What a run does with the documents. */
export type RewriteMode = 'report' | 'write' | 'out-dir' | 'stdout' | 'check';

/** The only mode that the options choose; throws a usage error for options that contradict each other. */
export function modeOf(options: RewriteFlags): RewriteMode {
  const {write, outDir, stdout, check, ndjson, template} = options;
  const chosen: RewriteMode[] = [
    ...(write ? ['write' as const] : []),
    ...(outDir !== undefined ? ['out-dir' as const] : []),
    ...(stdout ? ['stdout' as const] : []),
    ...(check ? ['check' as const] : []),
  ];
  const [mode = 'report', ...others] = chosen;
  if (others.length > 0) throw contradiction(chosen.map(name => `--${name}`));
  const formats = [...(ndjson ? ['--ndjson'] : []), ...(template === undefined ? [] : ['--template'])];
  if (formats.length > 1) throw contradiction(formats);
  if (mode === 'stdout' && formats.length > 0) throw contradiction(['--stdout', ...formats]);
  if (options.journal !== undefined && options.once === false)
    throw contradiction(['--journal', '--no-once']);
  return mode;
}

function contradiction(options: readonly string[]): MediaError {
  return new MediaError('usage', `${options.join(' and ')} were given together.`, {hint: 'Choose one.'});
}
