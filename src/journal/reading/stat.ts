import type {FileStat} from '../../sources/open/source.ts';

/** A file that changed less than this many nanoseconds ago may change again without a change of its times. */
const youngNs = 2_000_000_000n;

/** The state of a file, as text for lines and shortcuts. */
export function statText({mtimeNs, ctimeNs, dev, ino}: FileStat): string {
  return `${mtimeNs} ${ctimeNs} ${dev} ${ino}`;
}

/** Whether a file was unchanged long enough before `now`, in milliseconds, that another change would show in its times. */
export function isSettled({ctimeNs}: FileStat, now: number): boolean {
  return BigInt(Math.floor(now)) * 1_000_000n - ctimeNs >= youngNs;
}
