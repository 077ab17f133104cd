import {eventually} from './eventually.ts';
import type {Sandbox} from './media.ts';
import {running} from './running.ts';

/** A `media serve` that runs until the test ends it, or until the test ends. */
export async function serve(box: Sandbox, ...parameters: string[]) {
  const {child, stdout, stderr} = running(box, ['serve', '--port', '0', ...parameters], {
    ...{buffer: true, timeout: 0},
  });
  // The lines are written at once.
  await eventually(() => stdout().startsWith('MEDIA_BASE_URL=') && stdout().endsWith('\n'));
  const variables = Object.fromEntries(
    stdout()
      .trimEnd()
      .split('\n')
      .map(line => /^(\w+)=(.*)$/.exec(line)?.slice(1) ?? []),
  ) as Record<string, string>;
  return {
    child,
    url: variables['MEDIA_BASE_URL'] ?? '',
    key: variables['MEDIA_API_KEY'] ?? '',
    variables,
    env: {...box.env, ...variables},
    stderr,
    stdout,
  };
}
