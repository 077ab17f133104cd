/** What a request is for, by the beginning of its path: metrics and faults distinguish no more than that. */
export function operationOf(path: string): string {
  if (path === '/v1/media/upload') return 'upload';
  const [, first] = /^\/(graphql|files|thumbnails|streams|metrics|healthz)(?:\/|$)/.exec(path) ?? [];
  return first ?? 'other';
}
