import type {FileStat} from '../../sources/open/source.ts';

/** What changed later than this, in nanoseconds, may change once more without any time of it showing that. */
const youngNs = 2_000_000_000n;

/** A file's state, as lines hold it and shortcuts go by it. */
export function statText({mtimeNs, ctimeNs, dev, ino}: FileStat): string {
  return `${mtimeNs} ${ctimeNs} ${dev} ${ino}`;
}

/** Whether a file was left alone for so long before `now`, in milliseconds, that another change of it would show. */
export function isSettled({ctimeNs}: FileStat, now: number): boolean {
  return BigInt(Math.floor(now)) * 1_000_000n - ctimeNs >= youngNs;
}
