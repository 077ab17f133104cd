import {createHash, randomBytes} from 'node:crypto';
import type {Host} from '../../host.ts';

/** The parts of the name of a temporary file: which machine, which start of it, which process. */
const pattern = /^([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\w*)-[0-9a-f]{32}$/;

/** Names for temporary files, which say which process they belong to. */
export class TemporaryNames {
  readonly #host: Host;
  readonly #machine: string;
  readonly #start: string;
  #prefix: string | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#machine = digest(host.hostName());
    this.#start = digest(`${host.bootId()} ${host.pidNamespace()}`);
  }

  /** A new name of this process. */
  next(): string {
    const pid = this.#host.processId();
    this.#prefix ??= `${this.#machine}-${this.#start}-${pid}-${this.#beginning(pid) ?? ''}`;
    return `${this.#prefix}-${randomBytes(16).toString('hex')}`;
  }

  /** Whether the process of a name is running; undefined if it cannot be judged from here. */
  isAlive(name: string): boolean | undefined {
    const [, machine, start, pid, began] = pattern.exec(name) ?? [];
    if (machine !== this.#machine) return undefined;
    if (start !== this.#start || !this.#host.isProcessAlive(Number(pid))) return false;
    const now = this.#beginning(Number(pid));
    return now === undefined || now === began;
  }

  /** When a process began, as part of a name. */
  #beginning(pid: number): string | undefined {
    return this.#host.processStart(pid)?.replace(/\W/g, '_');
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
