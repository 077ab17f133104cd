import type {Host} from '../../host.ts';
import {isString, optional, type ShapeOf} from '../json.ts';
import type {Loose} from '../object.ts';

export const holderShape = {
  pid: (value: unknown): value is number => Number.isInteger(value),
  hostName: isString,
  /** Identifies the start of the machine, and the processes that share ids; missing if the system does not say. */
  bootId: optional(isString),
  pidNamespace: optional(isString),
  /** When the process began, which distinguishes it from an earlier one with the same id. */
  startTime: optional(isString),
  /** The device of the data directory of a service that listens on a socket there. */
  socketDevice: optional(isString),
  /** Unique for each time that something is held. */
  token: isString,
};

/** The process that holds something; its id alone means nothing in another container. */
export type Holder = Loose<ShapeOf<typeof holderShape>>;

/** This process as a holder, with a new token for each call. */
export function holderHere(host: Host): Holder {
  const pid = host.processId();
  return {
    pid,
    hostName: host.hostName(),
    bootId: host.bootId(),
    pidNamespace: host.pidNamespace(),
    startTime: host.processStart(pid),
    // The token is short, since most lines of a journal repeat it.
    token: host.uuid().replaceAll('-', '').slice(0, 16),
  };
}

/** The latest tokens that this process has released. If the disk was full, the files may not show it. */
const releasedTokens: string[] = [];

/** Records that this process has released what it held, even if its file could not be removed. */
export function markEnded({token}: Holder): void {
  releasedTokens.push(token);
  if (releasedTokens.length > 1000) releasedTokens.shift();
}

/** Whether a holder is still running; `unknown` for a process of another machine, container or boot. */
export function stateOf(holder: Holder, host: Host): 'alive' | 'dead' | 'unknown' {
  const isNear =
    holder.hostName === host.hostName() &&
    holder.bootId === host.bootId() &&
    holder.pidNamespace === host.pidNamespace();
  if (!isNear) return 'unknown';
  if (!host.isProcessAlive(holder.pid) || releasedTokens.includes(holder.token)) return 'dead';
  const startTime = host.processStart(holder.pid);
  // Containers use few ids: a restarted process may find its own id in what its predecessor left.
  return startTime === undefined || startTime === holder.startTime ? 'alive' : 'dead';
}

/** A holder as messages name it. */
export function holderText(holder: Holder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.hostName}`;
}
