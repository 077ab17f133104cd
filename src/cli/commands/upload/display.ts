import type {TransferObserver} from '../../../engine/transfer/batch.ts';
import type {Outcome} from '../../../engine/transfer/outcome.ts';
import type {MediaError} from '../../../errors.ts';
import {filesText, Meter, standingText, unavailableText} from '../../output/progress/meter.ts';
import type {OutputFormat} from '../../output/results/results.ts';
import {mayAnimate} from '../../output/terminal.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {Inputs} from './open-inputs.ts';
import type {Tally} from './tally.ts';

/** How often a run of several inputs reports its progress without a terminal. */
const plainLineMs = 10_000;

/** When the inputs start to be counted, which reads every input again: not in runs that end before. */
const countAfterMs = {drawn: 500, plain: plainLineMs / 2};

/** How long a progress report on request waits for the inputs to be counted. */
const countingMs = 1_000;

/** Shows progress on standard error: drawn on a terminal, else a line every 10 s. Counts several inputs meanwhile. */
export async function watchUpload(
  invocation: Invocation,
  inputs: Inputs,
  tally: Tally,
  warning: TransferObserver['warning'],
) {
  const {host, report, globals} = invocation;
  const meter = new Meter(host.clock);
  /** Notes progress in one line: every 10 s where nothing is drawn, and whenever a signal asks for it. */
  const reportProgress = () => {
    const standing = meter.snapshot();
    const parts = [`${filesText(standing)}, ${standingText(standing)}`, unavailableText(standing)];
    report.note([tally.summary(), ...parts.filter(part => part !== '')].join('; '));
  };
  const isWanted = globals.progress !== false;
  const isTerminal = mayAnimate(host.stderr, host.env);
  // The reader of a piped standard output may write to the same terminal, where drawing would erase it.
  const isDrawn = isWanted && report.chatty && isTerminal && !host.isStdoutPiped();
  const drawing = isDrawn ? await import('../../output/progress/progress.ts') : undefined;
  const progress =
    drawing && new drawing.Progress(host, {meter, several: inputs.several, summary: () => tally.summary()});
  report.drawing = progress;
  // CI ends jobs that print nothing, so --json and --ndjson have lines even for one input.
  const hasLines = isWanted && !isDrawn && (inputs.several || report.json !== undefined || isTerminal);
  const stopLines = hasLines ? host.clock.every(plainLineMs, reportProgress) : () => {};
  const surveyEnd = new AbortController();
  let counting: Promise<void> | undefined;
  const countAll = async () => {
    if (await inputs.survey(bytes => meter.addToSurvey(bytes), surveyEnd.signal)) meter.endSurvey();
  };
  // A failure to count is ignored: the run itself reports the same failure.
  const count = () => (counting ??= countAll().catch(() => {}));
  const mayCount = isWanted && report.level !== 'quiet' && inputs.several;
  const countAfter = isDrawn ? countAfterMs.drawn : countAfterMs.plain;
  const stopCounting = mayCount ? host.clock.after(countAfter, count) : () => {};
  const observer: TransferObserver = {
    /** Measures and draws a file from now on. */
    started(position, name, size) {
      meter.begin(position, name, size);
      progress?.start();
    },
    progress: (position, sentBytes) => meter.progress(position, sentBytes),
    finished: position => meter.end(position),
    /** Draws why a file waits; with --verbose, also reports it. */
    retrying(position, name, error, waitMs) {
      meter.setWaiting(position, waitMs, error.message);
      report.trace(`${name}: ${error.message} Next try ${whenText(error, waitMs)}.`);
      report.causes(error);
    },
    /** Draws how long the service has been unavailable, until it is back; with --verbose, also reports it. */
    unavailable(since) {
      meter.unavailable(since);
      report.trace(
        since === undefined ? 'The service is back.' : 'The service is unavailable: waiting for it.',
      );
    },
    warning,
  };
  return {
    observer,
    /** Whether files were sent completely that have no response yet. */
    isAwaiting: () => meter.isAwaiting,
    /** Reports the progress in a line; waits shortly for several inputs to be counted. */
    async reportAfterCount() {
      if (mayCount) await Promise.race([count(), host.clock.sleep(countingMs)]);
      reportProgress();
    },
    /** Stops watching and clears what was drawn. */
    finish() {
      stopCounting();
      surveyEnd.abort();
      stopLines();
      progress?.stop();
      report.drawing = undefined;
    },
  };
}

/** When a file is tried again after an error; without `waitMs`, what ends its wait depends on the error. */
function whenText({code}: MediaError, waitMs: number | undefined): string {
  if (waitMs !== undefined) return `in ${Math.round(waitMs)} ms`;
  return code === 'too_many_open_files' ? 'when another file has ended' : 'when the service is back';
}

/** Where the outcomes go: to standard output, or to the command that uploads files for its own purpose. */
export type RunOutput = {format: OutputFormat} | {outcomes: Outcome[]};
