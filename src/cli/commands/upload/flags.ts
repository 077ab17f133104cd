import type {InputRequest} from '../../../engine/sources/find/expand.ts';
import type {Source} from '../../../engine/sources/open/source.ts';
import {transferDefaults} from '../../../engine/transfer/transfer-options.ts';
import type {TypeRule} from '../../../media/type/decide.ts';
import type {FormatName} from '../../output/results/formats.ts';
import type {GeotagFlag} from '../../session/values.ts';
import type {Speed} from '../../settings/profile.ts';

/** The defaults of `media upload` that no setting changes. */
export const uploadDefaults = {types: 'extension', retries: transferDefaults.retries} as const;

/** Which files are uploaded. */
export interface InputFlags extends InputRequest {
  clipboard?: boolean;
  /** Makes the source of each input, set by other commands: each input is a file name, never a pattern. */
  source?: (name: string) => Source;
  shard?: string;
}

/** What is remembered of earlier runs, and for later ones. */
export interface MemoryFlags {
  journal?: string;
  manifest?: string;
  /** Whether the manifest is only compared with the inputs. */
  check?: boolean;
  /** Whether the entries of files that are gone are removed from the manifest. */
  prune?: boolean;
  /** Whether this machine's own journal is used; undefined where the profile decides. */
  once?: boolean;
}

/** How the files are sent; times in milliseconds. The variables and the profile overrule the defaults of `Speed`. */
export interface TransferFlags extends Speed {
  contentType?: string;
  types: TypeRule;
  retries: number;
  timeout?: number;
  onUnknown?: 'hold' | 'retry';
  verify?: 'warn' | 'strict';
  geotags?: GeotagFlag;
  dryRun?: boolean;
}

/** The options of `media upload`, as they were read from the command line. */
export interface UploadFlags extends InputFlags, MemoryFlags, TransferFlags {
  format?: FormatName;
  json?: boolean;
  ndjson?: boolean;
  template?: string;
  deadline?: number;
  ci?: boolean;
}
