import {eventually} from './eventually.ts';
import type {Sandbox} from './media.ts';
import {slowTest} from './patience.ts';
import {running} from './running.ts';

/** A running `media bridge`. */
export async function bridge(box: Pick<Sandbox, 'start'>, ...parameters: string[]) {
  const {child, stdout, stderr} = running(box, ['bridge', '--port', '0', ...parameters], slowTest);
  const url = await eventually(() => /^(http:\S+)\n/.exec(stdout())?.[1]);
  return {child, url, base: new URL(url).origin, stderr};
}
