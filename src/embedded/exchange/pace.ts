/** The slowest pace of a request. Real uploads on bad connections are much faster; connections held open on purpose are not. */
export interface BodyPace {
  /** How long a request's head may take, in milliseconds; also the timeout of connections without a request. */
  headMs: number;
  /** The least average rate of a body in each window; slower bodies get a 408. */
  bytesPerSecond: number;
  /** In milliseconds. */
  windowMs: number;
}

export const defaultPace: BodyPace = {headMs: 60_000, bytesPerSecond: 100, windowMs: 60_000};
