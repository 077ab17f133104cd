import {MediaError} from '../../errors.ts';
import type {TransferOptions} from '../../transfer/batch.ts';

/** The options of `media rewrite`, as they were read from the command line. */
export interface RewriteFlags {
  inputs: string[];
  write?: boolean;
  outDir?: string;
  stdout?: boolean;
  check?: boolean;
  links?: boolean;
  attribute?: string[];
  frontMatter?: string[];
  root?: string;
  static?: string[];
  allowMissing?: boolean;
  ndjson?: boolean;
  template?: string;
  concurrency: TransferOptions['concurrency'];
  journal?: string;
  once?: boolean;
  ci?: 'github' | 'auto';
}

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
