import type {ByteName} from './names.ts';

/** What a walk reads and takes; paths are relative to its root. */
export interface WalkRules {
  /** Whether a file is wanted. */
  takes(relative: ByteName): boolean;
  /** Whether a directory is read. */
  enters(relative: ByteName): boolean;
  /** Whether something that is wanted is left out as hidden. */
  hides(relative: ByteName): boolean;
}
