/** A request that is refused: the status of the response, and why. */
export class BridgeRefusal extends Error {
  override readonly name = 'BridgeRefusal';
  readonly status: number;

  constructor(status: number, message: string, details: {cause?: unknown} = {}) {
    super(message, details);
    this.status = status;
  }
}
