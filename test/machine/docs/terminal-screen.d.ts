export class TerminalScreen {
  readonly rows: {character: string}[][];
  constructor(columns: number);
  write(text: string): void;
  narrow(columns: number): void;
}
