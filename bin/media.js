#!/usr/bin/env node
import {run, systemHost} from '../dist/main.js';

// Should the program ever run out of things to do without an end, that is a bug and must not look like success.
process.exitCode = 7;
const status = await run(process.argv.slice(2), systemHost());
if (typeof status === 'number') {
  process.exit(status);
} else {
  // Ending by the signal itself, so that a shell loop around us stops as well; the timer keeps us alive until it acts.
  process.removeAllListeners(status);
  setTimeout(() => process.exit(1), 5000);
  process.kill(process.pid, status);
}
