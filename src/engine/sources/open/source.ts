import type {StopSignal} from '../../../host.ts';
import type {FilePath} from '../../../lib/files/typed-path.ts';

/** Something to upload that is not open yet. */
export interface Source {
  /** The user's name for the source, in messages and for the type; U+FFFD where not UTF-8; `-` for standard input. */
  readonly name: string;
  /** The name's bytes, if they are not UTF-8. */
  readonly nameBytes?: Buffer;
  /** The path below the named directory, otherwise the normalised path as named. Shards and the journal use it. */
  readonly relativePath?: FilePath;
  /** Set if it is unknown which files it means, so that every shard must include it. */
  readonly everyShard?: true;
  /** Set for standard input, which can be opened only once. */
  readonly isOnce?: true;
  /** Set for files that a walk found and no input named. */
  readonly found?: FoundInput;
  /** Its size in bytes, without opening it; 0 if unknown. */
  measure?(): number | Promise<number>;
  /** Opens it, or rejects with a MediaError that says why it cannot be uploaded. */
  open(signal: StopSignal<Error>): Promise<OpenSource>;
}

/** What decides whether a walk leaves a file out. */
export interface FoundInput {
  /** Whether its name begins with a dot, so that it is left out. */
  isHidden: boolean;
  /** Whether its name says that it is an image or a video; otherwise it is left out unless its bytes say so. */
  isNamedMedia(): boolean | Promise<boolean>;
}

/** An opened source: random access to bytes that must not change until they are stored. */
export interface OpenSource {
  /** Bytes, from fstat of the opened file. */
  readonly size: number;
  /** Where other processes can read it; absent for standard input. */
  readonly path?: FilePath | undefined;
  /** Of the opened file; absent where the bytes are no file of this machine that anybody can open again. */
  readonly stat?: FileStat | undefined;
  /** Reads up to `length` bytes, fewer only at the end, into the memory of `into` if that is given and large enough. */
  read(position: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
  /** Rejects with `source_changed` if the content has changed since it was opened. `sent`: what to compare it with. */
  verify(sent?: SentContent): Promise<Sameness>;
  /** The whole content if it is small, otherwise undefined. Rejects with `file_unreadable`. */
  small?(): Promise<SmallContent> | undefined;
  /** `isUnused`: nobody reads the bytes that were read any more, so their memory may be used for another file. */
  close(isUnused?: boolean): Promise<void>;
}

/** The complete content that was sent. */
export interface SentContent {
  /** The SHA-256, in hex. */
  sha256?: string | undefined;
  /** Called for each block that is read for the comparison. */
  onRead?: () => void;
}

/** The result of verifying an opened source whose content has not visibly changed. */
export type Sameness = 'unchanged' | 'only its hash can tell';

/** Identifies a file and its state: every write changes at least one of these fields. */
export interface FileStat {
  /** When the content was last changed, in nanoseconds since the Unix epoch. */
  readonly mtimeNs: bigint;
  /** When content, name or mode was last changed, in the same unit; nobody can set this back. */
  readonly ctimeNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** The content of a small file. */
export interface SmallContent {
  /** As many as the source's size; fewer only if it was cut short. */
  bytes: Uint8Array;
  /** Throws the error of `OpenSource.verify`; compares the content itself, which is in memory, if necessary. */
  verify(): void;
}
