import {emptyUrl, publicUrl} from '../../../engine/service/record.ts';
import type {UploadResult} from '../../../engine/transfer/outcome.ts';
import type {MediaError} from '../../../errors.ts';
import {jsonLine} from '../../output/escape.ts';
import type {DisposalFields, WatchEvent} from '../../output/json-output.ts';
import {errorFields} from '../../output/report.ts';
import {ndjsonLine} from '../../output/results/formats.ts';
import {renderOutcome, type Template} from '../../output/results/template.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {DisposalResult} from './disposal/disposal.ts';

/** An event that is a sentence without `--ndjson`; what delays files is reported as a failure. */
type StateEvent = Exclude<WatchEvent, {event: 'delayed'}>;

/** Prints outcomes and events: by a template, or as NDJSON without one. */
export function watchPrinter({stdout, report}: Invocation, template: Template | undefined) {
  return {
    /** Prints the result of a file, whose absolute path is `path`; by a template, only successes. */
    async outcome(outcome: UploadResult, path: string, disposed?: DisposalResult): Promise<void> {
      if (template === undefined) {
        const moved = typeof disposed === 'object' && 'movedTo' in disposed ? disposed : {};
        const fields: DisposalFields = disposed === 'deleted' ? {deleted: true} : moved;
        return stdout.write(ndjsonLine(outcome, fields));
      }
      await stdout.write(renderOutcome(template, outcome, () => path));
      if (template.hasUrl && 'record' in outcome && publicUrl(outcome.record) === undefined)
        report.warning(`${outcome.file}: ${emptyUrl}`);
    },

    /** Prints an event as NDJSON, or a sentence on standard error. */
    async event(event: StateEvent): Promise<void> {
      if (template === undefined) await stdout.write(jsonLine<WatchEvent>(event));
      else report.note(sentence(event));
    },

    /** Reports that files are tried again later, because of a failure. */
    async printDelay(error: MediaError, waiting: number): Promise<void> {
      report.failure(error.reword({message: `${error.message} ${filesWait(waiting)}`}));
      const event = {event: 'delayed', waiting, error: errorFields(report.inWords(error))} as const;
      if (template === undefined) await stdout.write(jsonLine<WatchEvent>(event));
    },
  };
}

export type WatchPrinter = ReturnType<typeof watchPrinter>;

function sentence(event: StateEvent): string {
  switch (event.event) {
    case 'watching':
      return `Watching ${event.directory}. Press Ctrl-C to stop.`;
    case 'gone':
      return `${event.directory} has disappeared: waiting for it.`;
    case 'unavailable':
      return `${event.message} ${filesWait(event.waiting)}`;
    case 'kept':
      return `${event.file} stays where it is. ${event.reason}`;
    case 'available':
      return 'The service is back.';
  }
}

function filesWait(count: number): string {
  return count === 1 ? '1 file waits.' : `${count} files wait.`;
}
