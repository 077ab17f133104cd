// With 25 programs that want the processors, what takes a second on an idle machine takes over 12.

/** How long a test waits for one event or for the end of one program, in milliseconds. */
export const patienceMs = 200_000;

/** The options of a test that takes more than some seconds on an idle machine; vitest.config.js has what all others get. */
export const slowTest = {timeout: 600_000};
