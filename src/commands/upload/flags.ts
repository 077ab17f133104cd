import type {formatChoices} from '../../output/results/formats.ts';
import type {TypeRule} from '../../sources/media-type/decide.ts';
import {transferDefaults} from '../../transfer/options.ts';

/** The defaults of `media upload`; times in milliseconds. */
export const uploadDefaults = {
  types: 'extension',
  concurrency: transferDefaults.concurrency,
  retries: transferDefaults.retries,
  retryMaxWait: transferDefaults.retryMaxWaitMs,
} as const;

/** The options of `media upload`, as they were read from the command line. */
export interface UploadFlags {
  inputs: string[];
  contentType?: string;
  types: TypeRule;
  name?: string;
  clipboard?: boolean;
  format?: (typeof formatChoices)[number];
  json?: boolean;
  ndjson?: boolean;
  template?: string;
  recursive?: boolean;
  all?: boolean;
  filesFrom?: string[];
  exclude?: string[];
  shard?: string;
  /** A number, or as many as make it faster, up to `most`. */
  concurrency: number | {most: number};
  retries: number;
  retryMaxWait: number;
  timeout?: number;
  deadline?: number;
  limitRate?: number;
  onUnknown?: 'hold' | 'retry';
  journal?: string;
  /** Whether this machine's own journal is used; undefined where the profile decides. */
  once?: boolean;
  verify?: 'warn' | 'strict';
  dryRun?: boolean;
  ci?: 'github' | 'auto';
}
