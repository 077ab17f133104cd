import {readdirSync, readFileSync} from 'node:fs';
import {afterAll} from 'vitest';
import './equal-bytes.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a test file, its imports and the programs that it started, in milliseconds. */
    cpuMs?: number;
  }
}

/** Linux counts processor time in hundredths of a second. */
const msPerTick = 10;

// vitest evaluates this module anew before each test file. A worker runs one file after another.
const cpuMsBefore = cpuMs();
const environment = {...process.env};

// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern that no fixture is wanted.
afterAll(({}, {file}) => {
  file.meta.cpuMs = cpuMs() - cpuMsBefore;
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

/** The processor time of this process and of its descendants, including those that have ended. */
function cpuMs(): number {
  if (process.platform !== 'linux') {
    const {user, system} = process.cpuUsage();
    return (user + system) / 1000;
  }
  const processes = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(statOf);
  const family = new Set([process.pid]);
  // A child has a higher number than its parent, except where the numbers began again.
  for (const {pid, parent} of processes.sort((one, other) => one.pid - other.pid)) {
    if (family.has(parent)) family.add(pid);
  }
  let ticks = 0;
  for (const {pid, cpuTicks} of processes) if (family.has(pid)) ticks += cpuTicks;
  return ticks * msPerTick;
}

/** What /proc/PID/stat says of a process (proc(5)); nothing for one that has just ended. */
function statOf(pid: string): {pid: number; parent: number; cpuTicks: number}[] {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return [];
  }
  // The second field is a name in parentheses, which may contain spaces.
  const fields = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const cpuTicks = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0);
  return [{pid: Number(pid), parent, cpuTicks}];
}
