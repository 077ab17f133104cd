import {type Disposal, Disposals} from '../../src/cli/commands/watch/disposal/disposal.ts';
import type {FileStat, Source} from '../../src/engine/sources/open/source.ts';
import {type Outcome, withHints} from '../../src/engine/transfer/outcome.ts';
import type {Host, StopSignal} from '../../src/host.ts';
import {inWords} from '../support/hints.ts';
import type {Process} from './process.ts';
import type {SimulatedService} from './service.ts';

type Session = NonNullable<Parameters<Disposals['confirm']>[1]>;

/** Moves or deletes files of a simulated disk as `media watch` does. */
export class Disposing {
  readonly #opened = new Map<string, FileStat | undefined>();
  readonly #disposals: Disposals;
  readonly #session: Session;

  constructor(
    disposal: Disposal,
    {process, service, stop}: {process: Process; service: SimulatedService; stop: StopSignal},
  ) {
    const host: Host = process.host;
    this.#disposals = new Disposals(disposal, {host, stdout: {hasEnded: false}, settleMs: 0, stop});
    const isStored = ({id}: {id: string}) => process.step(() => service.stored.some(one => one.id === id));
    // Of a session, it only asks this.
    this.#session = {client: {isStored}} as unknown as Session;
  }

  /** The same source, whose state is remembered as it is opened. */
  watched(source: Source): Source {
    return {
      ...source,
      open: async signal => {
        const opened = await source.open(signal);
        this.#opened.set(source.name, opened.stat);
        return opened;
      },
    };
  }

  /** Disposes of a file after its outcome; resolves to what became of it, as a word. */
  async dispose(raw: Outcome, relative: string): Promise<string> {
    const outcome = withHints(raw, inWords);
    await this.#disposals.confirm(outcome, this.#session);
    const file = {path: outcome.file, relative, stat: this.#opened.get(outcome.file), outcome};
    const disposed = await this.#disposals.dispose(file, () => {});
    if (typeof disposed === 'string') return disposed;
    return 'kept' in disposed ? `kept: ${disposed.kept}` : `moved to ${disposed.movedTo}`;
  }
}
