/** How slowly a request may arrive. An honest upload on a bad line is far above it; a connection held for harm is not. */
export interface BodyPace {
  /** How long a request's head may take, in milliseconds; a connection without a request ends after it too. */
  headMs: number;
  /** What a body has to bring in each window, on average; less is answered with 408. */
  bytesPerSecond: number;
  /** In milliseconds. */
  windowMs: number;
}

export const defaultPace: BodyPace = {headMs: 60_000, bytesPerSecond: 100, windowMs: 60_000};
