import type {FormatName} from '../../src/cli/output/results/formats.ts';

/** The option of `media upload` that chooses a format. */
export function optionOf(format: FormatName): string[] {
  return format === 'json' || format === 'ndjson' ? [`--${format}`] : ['--format', format];
}
