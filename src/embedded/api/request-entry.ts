/** A request that was answered or abandoned. */
export interface RequestEntry {
  method: string;
  /** Without the query. */
  path: string;
  /** The status of the response, even if the client had disconnected; 0 if a fault prevented any. */
  status: number;
  /** The bytes of the request's body that arrived, or of the response's body if the request had none. */
  bytes: number;
  elapsedMs: number;
  /** The faults that were applied, if any. */
  faults?: readonly string[];
}
