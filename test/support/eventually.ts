import {patienceMs} from './patience.ts';

/** Waits until `condition` gives a value other than undefined and false; what starts a program is looked at less often. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  {pauseMs = 5}: {pauseMs?: number} = {},
): Promise<Exclude<T, undefined | false>> {
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  throw new Error(`never came true: ${condition}`);
}
