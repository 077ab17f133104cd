/** An option of the service has a value that it does not take. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption';
  /** What to write instead. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
