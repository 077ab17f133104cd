import type {StopSignal} from '../../host.ts';
import type {FilePath} from '../../lib/typed-path.ts';

/** Something to upload, not opened yet. */
export interface Source {
  /** What the user called it, as messages show it: what is not UTF-8 is replaced; `-` for standard input. */
  readonly name: string;
  /** The name's bytes, where they are not UTF-8. */
  readonly nameBytes?: Buffer;
  /** The name whose extension speaks for the content type. */
  readonly typeName: string;
  /** Below the directory that was named; otherwise the path as named, normalised. Shards and the journal go by it. */
  readonly relativePath?: FilePath;
  /** Set where this machine cannot tell which files it stands for, so that no shard may leave it out. */
  readonly everyShard?: true;
  /** Set of what can be opened only once: standard input. */
  readonly isOnce?: true;
  /** Set of what a walk came across and nobody named. */
  readonly found?: FoundInput;
  /** Its size in bytes, without opening it; 0 where that cannot be told. */
  measure?(): Promise<number>;
  /** Opens it, or rejects with a MediaError that says why it cannot be uploaded. */
  open(signal: StopSignal<Error>): Promise<OpenSource>;
}

/** What makes a walk leave something out. */
export interface FoundInput {
  /** Whether its name, which begins with a dot, hides it: it is left out. */
  isHidden: boolean;
  /** Whether its name calls it an image or a video; otherwise it is left out unless its bytes do. */
  isNamedMedia(): boolean | Promise<boolean>;
}

/** An opened source: random access to bytes that must not change until they are stored. */
export interface OpenSource {
  /** Bytes, from fstat of the opened file. */
  readonly size: number;
  /** Of the opened file; absent where the bytes are no file of this machine that anybody can open again. */
  readonly stat?: FileStat | undefined;
  /**
   * Reads up to `length` bytes at `position`; fewer only at the end. They are in the memory of `into`, where that is
   * given and large enough. Rejects with `file_unreadable`.
   */
  read(position: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
  /** Rejects with `source_changed` when the content is no longer what was opened. */
  verify(): Promise<void>;
  /** The whole content, where that is small; undefined otherwise. Rejects with `file_unreadable`. */
  small?(): Promise<SmallContent> | undefined;
  close(): Promise<void>;
}

/** What tells a file and its state from others: no write leaves all of it as it was. */
export interface FileStat {
  /** When the content was last changed, in nanoseconds since the Unix epoch. */
  readonly mtimeNs: bigint;
  /** The same of content, name or mode, which nobody can set back. */
  readonly ctimeNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** The content of a small file. */
export interface SmallContent {
  /** As many as the source's size; fewer only where it ended before. */
  bytes: Uint8Array;
  /** Throws what `verify` rejects with. */
  verify(): void;
}
