import {patienceMs} from './patience.ts';

export interface Waiting {
  /** What starts a program is looked at less often. */
  pauseMs?: number;
  /** Told when it is waited for in vain. */
  state?: () => unknown;
}

/** Waits until `condition` gives a value other than undefined and false. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  {pauseMs = 5, state}: Waiting = {},
): Promise<Exclude<T, undefined | false>> {
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  const found = state === undefined ? '' : `\n${JSON.stringify(await state(), undefined, 2)}`;
  throw new Error(`never came true: ${condition}${found}`);
}
