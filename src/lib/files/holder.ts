import type {Host} from '../../host.ts';
import {isString, optional, type Shape} from '../shape.ts';

/** The process that holds something, as another one reads of it: no process id means the same in every container. */
export interface Holder {
  pid: number;
  hostName: string;
  /** Of the machine's start, and of the processes that share its ids; missing where the system does not tell. */
  bootId?: string | undefined;
  pidNamespace?: string | undefined;
  /** When the process began, which tells it from an earlier one of the same id. */
  startTime?: string | undefined;
  /** Of this one holding: no other has it. */
  token: string;
}

export const holderShape: Shape<Holder> = {
  pid: (value): value is number => Number.isInteger(value),
  hostName: isString,
  bootId: optional(isString),
  pidNamespace: optional(isString),
  startTime: optional(isString),
  token: isString,
};

/** This process, as a holder. */
export function holderHere(host: Host): Holder {
  const pid = host.processId();
  return {
    pid,
    hostName: host.hostName(),
    bootId: host.bootId(),
    pidNamespace: host.pidNamespace(),
    startTime: host.processStart(pid),
    token: host.uuid(),
  };
}

/** The latest holdings of this process that have ended: as when a disk was full, there may be no trace of it. */
const ended: string[] = [];

/** Notes that this process has ended a holding, whatever is left of it. */
export function markEnded({token}: Holder): void {
  ended.push(token);
  if (ended.length > 1000) ended.shift();
}

/** Whether a holder still runs: only told of processes that are called by the same ids as ours, and of the same boot. */
export function stateOf(holder: Holder, host: Host): 'alive' | 'dead' | 'unknown' {
  const isNear =
    holder.hostName === host.hostName() &&
    holder.bootId === host.bootId() &&
    holder.pidNamespace === host.pidNamespace();
  if (!isNear) return 'unknown';
  if (!host.isProcessAlive(holder.pid) || ended.includes(holder.token)) return 'dead';
  const startTime = host.processStart(holder.pid);
  // Ids are few in containers: a restarted process finds its own in what the one before it left.
  return startTime === undefined || startTime === holder.startTime ? 'alive' : 'dead';
}

/** A holder in a sentence. */
export function holderText(holder: Holder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.hostName}`;
}
