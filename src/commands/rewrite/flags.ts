import type {GeotagFlag} from '../../cli/values.ts';
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
  concurrency?: TransferOptions['concurrency'];
  geotags?: GeotagFlag;
  journal?: string;
  once?: boolean;
  ci?: 'github' | 'auto';
}
