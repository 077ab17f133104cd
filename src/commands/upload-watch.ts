import {mayAnimate, mayColor} from '../output/terminal.ts';
import {formatBytes} from '../output/units.ts';
import type {TransferObserver} from '../transfer/transfer.ts';
import type {Invocation} from './cli.ts';
import type {Tally} from './upload-tally.ts';

/** How often a run of several inputs says off a terminal where it stands. */
const plainLineMs = 10_000;

/** What a run is watched by. */
export interface Watch {
  observer: TransferObserver;
  /** Where the run stands, in a line. */
  status(): string;
  /** Ends the watching and clears what it drew. */
  finish(): void;
}

/**
 * Shows the run on standard error: drawn on a terminal; elsewhere a line every 10 s for several inputs, and nothing for
 * one.
 */
export async function watchUpload(invocation: Invocation, several: boolean, tally: Tally): Promise<Watch> {
  const {host, report} = invocation;
  const traces = (name: string, message: string, waitMs: number) =>
    report.trace(`${name}: ${message} Next try in ${Math.round(waitMs)} ms.`);
  if (!report.chatty || !mayAnimate(host.stderr, host.env))
    return watchInLines(invocation, several, tally, traces);
  const {Progress} = await import('../output/progress.ts');
  const color = mayColor(host.stderr, host.env, invocation.globals.color);
  const progress = new Progress({
    stream: host.stderr,
    clock: host.clock,
    color,
    several,
    done: () => tally.summary(),
  });
  report.drawing = progress;
  return {
    observer: {
      started: (position, name, size) => progress.started(position, name, size),
      progress: (position, sentBytes) => progress.progress(position, sentBytes),
      finished: position => progress.finished(position),
      retrying: (position, name, error, waitMs) => {
        progress.waiting(position, waitMs, error.message);
        traces(name, error.message, waitMs);
      },
      warning: (name, message) => report.warning(`${name}: ${message}`),
    },
    status: () => progress.batchLine(),
    finish() {
      progress.stop();
      report.drawing = undefined;
    },
  };
}

function watchInLines(
  {host, report}: Invocation,
  several: boolean,
  tally: Tally,
  traces: (name: string, message: string, waitMs: number) => void,
): Watch {
  const start = host.clock.monotonic();
  const sent = new Map<number, number>();
  let before = 0;
  const status = () => {
    const bytes = [...sent.values()].reduce((sum, part) => sum + part, before);
    const seconds = (host.clock.monotonic() - start) / 1000;
    return `${tally.summary()}; ${formatBytes(bytes)} sent, ${formatBytes(bytes / seconds)}/s`;
  };
  const finish = several ? host.clock.every(plainLineMs, () => report.note(status())) : () => {};
  return {
    observer: {
      started: () => {},
      progress: (position, sentBytes) => void sent.set(position, sentBytes),
      finished: position => {
        before += sent.get(position) ?? 0;
        sent.delete(position);
      },
      retrying: (_position, name, error, waitMs) => traces(name, error.message, waitMs),
      warning: (name, message) => report.warning(`${name}: ${message}`),
    },
    status,
    finish,
  };
}
