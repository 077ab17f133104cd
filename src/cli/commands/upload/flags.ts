import type {InputRequest} from '../../../engine/sources/find/expand.ts';
import type {Source} from '../../../engine/sources/open/source.ts';
import {transferDefaults} from '../../../engine/transfer/transfer-options.ts';
import type {TypeRule} from '../../../media/type/decide.ts';
import type {FormatName} from '../../output/results/formats.ts';
import type {GeotagFlag} from '../../session/values.ts';
import type {Speed} from '../../settings/profile.ts';

/** The defaults of `media upload` that no setting changes. */
export const uploadDefaults = {types: 'extension', retries: transferDefaults.retries} as const;

/**
 * The options of `media upload`, as they were read from the command line, or as another command sets them; times in
 * milliseconds. Where a field of `Speed`, `onUnknown` or `once` is undefined, the variables and the profile decide.
 */
export interface UploadFlags extends InputRequest, Speed {
  clipboard?: boolean;
  /** Makes the source of each input, set by other commands: each input is a file name, never a pattern. */
  source?: (name: string) => Source;
  shard?: string;

  journal?: string;
  manifest?: string;
  /** Whether the manifest is only compared with the inputs. */
  check?: boolean;
  /** Whether the entries of files that are gone are removed from the manifest. */
  prune?: boolean;
  /** Whether this machine's own journal is used. */
  once?: boolean;

  contentType?: string;
  types: TypeRule;
  retries: number;
  timeout?: number;
  onUnknown?: 'hold' | 'retry';
  verify?: 'warn' | 'strict';
  geotags?: GeotagFlag;
  dryRun?: boolean;

  format?: FormatName;
  json?: boolean;
  ndjson?: boolean;
  template?: string;
  deadline?: number;
  ci?: boolean;
}
