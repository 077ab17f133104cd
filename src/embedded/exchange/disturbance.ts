/** Until when a request was processed: its head was read, its body was received, what it asks for was stored. */
export type Stage = 'head' | 'body' | 'store';

/** What is done to an exchange on purpose, by the faults that apply to it. */
export interface Disturbance {
  /** The faults that were applied so far, as they were written. */
  readonly applied: readonly string[];
  /** Resolves when the request may go on; rejects with an ExchangeOver if a fault has ended it. */
  at(stage: Stage): Promise<void>;
  /** Resolves when so many more bytes of a body may pass. */
  pace(bytes: number): Promise<void>;
  /** Whether the response is to end in the middle of its body. */
  cuts(): boolean;
  /** The response to send instead of this one. */
  instead(response: PlainResponse): PlainResponse;
}

/** A response whose body is a text. */
export interface PlainResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Thrown when an exchange has ended before its response: nothing else is to be sent. */
export class ExchangeOver extends Error {
  override readonly name = 'ExchangeOver';
}
