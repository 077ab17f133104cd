import type {ByteName} from './names.ts';

/** What a walk looks at and takes; the paths are relative to its root. */
export interface WalkRules {
  /** Whether a file is wanted. */
  takes(relative: ByteName): boolean;
  /** Whether a directory is to be read. */
  enters(relative: ByteName): boolean;
  /** Whether something is hidden, which is wanted otherwise. */
  hides(relative: ByteName): boolean;
  /** Whether links to directories are directories. */
  follow: boolean;
  /** Whether the way to a directory tells what is wanted of it, so that it matters more than once by several ways. */
  dependsOnPath: boolean;
}
