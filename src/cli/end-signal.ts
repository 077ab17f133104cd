import type {EndSignal} from '../host.ts';
import type {Invocation} from './invocation.ts';

/** Resolves with the first signal that ends the program; a second one ends it at once. */
export function endSignal({host, abandon}: Pick<Invocation, 'host' | 'abandon'>): {
  received: Promise<EndSignal>;
  /** Stops listening. */
  ignore: () => void;
} {
  let ignore = () => {};
  const received = new Promise<EndSignal>(resolve => {
    let first: EndSignal | undefined;
    ignore = host.onEndSignal(signal => {
      if (first !== undefined) abandon(signal);
      first ??= signal;
      resolve(first);
    });
  });
  return {received, ignore};
}
