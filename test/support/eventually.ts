/** How long a condition is waited for, and how long between two looks at it; one that starts a program is looked at less often. */
interface Patience {
  patienceMs?: number;
  pauseMs?: number;
}

/** Waits until `condition` gives a value other than undefined and false; fails after 25 seconds. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  {patienceMs = 25_000, pauseMs = 5}: Patience = {},
): Promise<Exclude<T, undefined | false>> {
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  throw new Error(`never came true: ${condition}`);
}
