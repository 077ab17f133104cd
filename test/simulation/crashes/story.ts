import type {Change, Image} from './recorder.ts';
import type {CrashState} from './states.ts';

/** Something that the program does to files, and what is promised of it. */
export interface Story {
  name: string;
  /** Does it once. */
  record(): Promise<{start: Image; changes: readonly Change[]}>;
  /** Begins again after a power cut that left this; resolves to what is broken of what is promised. */
  check(state: CrashState): Promise<string[]>;
}
