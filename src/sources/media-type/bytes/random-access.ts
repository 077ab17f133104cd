/** Random access to the bytes of an opened file. */
export interface RandomAccess {
  readonly size: number;
  /** Reads at a position; fewer bytes than asked for only at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
}
