import {MediaError} from '../errors.ts';
import type {ActiveUpload} from './active-uploads.ts';
import type {Intent} from './line.ts';
import type {JournalLog} from './log.ts';
import type {JournalReader} from './reader.ts';
import {ofOtherStore} from './scope.ts';

type Known = 'idempotencyKey' | 'inDoubt' | 'wasReleased' | 'sha256';

export interface EntryParts extends Pick<JournalEntry, Known> {
  /** The SHA-256 of the content when it was admitted, in hex, if it was hashed then. */
  hashed: string | undefined;
  /** The intent, if it is not recorded yet: then it is recorded with the next transition, at the end at the latest. */
  intent: Intent | undefined;
  log: JournalLog;
  reader: JournalReader;
  active: ActiveUpload;
}

/** One upload of a run, through which the run reports its progress to the journal. */
export class JournalEntry {
  readonly idempotencyKey: string;
  /** The key of an earlier upload of this content that is unknown. A failure of this upload does not settle that one. */
  readonly inDoubt: string | undefined;
  /** Whether an earlier run released an upload with this key. */
  readonly wasReleased: boolean;
  /** The SHA-256 of the whole content, in hex; undefined if it must be computed while the content is sent. */
  readonly sha256: string | undefined;
  readonly #parts: EntryParts;
  #sent: string;
  #intent: Intent | undefined;

  constructor(parts: EntryParts) {
    this.idempotencyKey = parts.idempotencyKey;
    this.inDoubt = parts.inDoubt;
    this.sha256 = parts.sha256;
    this.wasReleased = parts.wasReleased;
    this.#sent = parts.hashed ?? '';
    this.#intent = parts.intent;
    this.#parts = parts;
  }

  /**
   * Resolves when the journal records durably that the last chunk is about to be sent. `sha256` is of the whole
   * content, in hex. Throws `source_changed` for other content than was admitted or sent with this key before: not every
   * file system shows in a file's times that it was written twice in a second.
   */
  async commit(sha256: string): Promise<void> {
    if (this.#sent !== '' && sha256 !== this.#sent)
      throw new MediaError(
        'source_changed',
        'The file changed while it was being uploaded: it was rewritten.',
        {
          hint: 'Nothing was stored. Upload it again when no program is writing to it.',
        },
      );
    this.#sent = sha256;
    this.#parts.active.announce(sha256);
    return this.#commit();
  }

  /** Records that an earlier upload with this key is unknown after all, although this one was not released. */
  doubt(): Promise<void> {
    return this.#commit();
  }

  /**
   * Resolves when the service's record is durable; rejects then if `told`, which service that is, is not the one of the journal.
   * Calls `onOther` at once if so, so that nothing more is sent to it meanwhile.
   */
  async done(
    recordJson: string,
    told?: string,
    onOther: (error: MediaError) => void = () => {},
  ): Promise<void> {
    const {log, reader} = this.#parts;
    const {index, shown} = reader;
    const isOther = () => told !== undefined && told !== (index.serviceId ?? told);
    if (isOther()) onOther(ofOtherStore(index.serviceId, told, shown));
    const serviceId = told === index.serviceId ? undefined : told;
    await log.append({event: 'done', key: this.idempotencyKey, recordJson, serviceId});
    if (isOther()) throw ofOtherStore(index.serviceId, told, shown);
  }

  /** Records that certainly nothing was stored; another commit may follow. Never call it for an unknown outcome. */
  async failed({code, message}: {code: string; message: string}): Promise<void> {
    this.#recordIntent();
    await this.#parts.log.append({event: 'failed', key: this.idempotencyKey, error: {code, message}});
  }

  /** Ends this upload in this run. If it was committed and has no result, it is unknown. */
  end(): void {
    this.#recordIntent();
    this.#parts.active.end();
  }

  #commit(): Promise<void> {
    const intent = this.#intent;
    this.#intent = undefined;
    return this.#parts.log.append({event: 'commit', key: this.idempotencyKey, ...intent, sha256: this.#sent});
  }

  #recordIntent(): void {
    const intent = this.#intent;
    this.#intent = undefined;
    // Whether it could be written shows in the next transition that matters.
    if (intent !== undefined)
      this.#parts.log.append({event: 'intent', key: this.idempotencyKey, ...intent}).catch(() => {});
  }
}
