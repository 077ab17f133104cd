import type {MediaError} from '../../../errors.ts';

export const checkLabels = {
  installation: 'installation',
  configuration: 'configuration',
  'file-modes': 'file modes',
  'base-url': 'base URL',
  proxy: 'proxy',
  dns: 'DNS',
  connection: 'connection',
  tls: 'TLS',
  key: 'key',
  'upload-path': 'upload path',
};

export type CheckName = keyof typeof checkLabels;

export type CheckResult =
  | {check: CheckName; status: 'ok' | 'warning' | 'unverified' | 'skipped'; message: string}
  | {check: CheckName; status: 'failed'; error: MediaError};
