import {type MediaError, sourceChanged} from '../errors.ts';
import type {ActiveUpload} from './active-uploads.ts';
import type {Intent} from './line.ts';
import type {JournalLog} from './log.ts';
import type {JournalReader} from './reader.ts';
import {otherServiceError} from './scope.ts';

interface UploadLogParts {
  idempotencyKey: string;
  /** The key of an earlier upload of this content that is unknown. A failure of this upload does not settle that one. */
  inDoubt: string | undefined;
  /** Whether an earlier run released an upload with this key. */
  wasReleased: boolean;
  /** The SHA-256 of the whole content, in hex; undefined if it must be computed while the content is sent. */
  sha256: string | undefined;
  log: JournalLog;
  reader: JournalReader;
  active: ActiveUpload;
  /** The SHA-256 of the content when it was admitted, in hex, if it was hashed then. */
  sha256AtStart: string | undefined;
  /** The intent, if it is not recorded yet: then it is recorded with the next transition, at the end at the latest. */
  intent: Intent | undefined;
}

/** One upload of a run, through which the run reports its progress to the journal. */
export type UploadLog = ReturnType<typeof uploadLog>;

export function uploadLog(parts: UploadLogParts) {
  const {log, reader, active, idempotencyKey: key} = parts;
  let {sha256AtStart: contentSha256, intent} = parts;
  const takePendingIntent = () => {
    const taken = intent;
    intent = undefined;
    return taken;
  };
  const recordIntent = () => {
    const taken = takePendingIntent();
    // Whether it could be written shows in the next transition that matters.
    if (taken !== undefined) log.append({event: 'intent', key, ...taken}).catch(() => {});
  };
  const recordCommit = () =>
    log.append({event: 'commit', key, ...takePendingIntent(), sha256: contentSha256 ?? ''});
  return {
    // Named one by one, since a copy takes a tenth of what an upload costs the journal.
    idempotencyKey: key,
    inDoubt: parts.inDoubt,
    wasReleased: parts.wasReleased,
    sha256: parts.sha256,

    /**
     * Resolves when the journal records durably that the last chunk is about to be sent. `sha256` is of the whole
     * content, in hex. Throws `source_changed` for other content than was admitted or sent with this key before: not every
     * file system shows in a file's times that it was written twice in a second.
     */
    async commit(sha256: string): Promise<void> {
      if (contentSha256 !== undefined && sha256 !== contentSha256)
        throw sourceChanged('The file', 'it was rewritten');
      contentSha256 = sha256;
      active.announce(sha256);
      return recordCommit();
    },

    /** Records that an earlier upload with this key is unknown after all, although this one was not released. */
    doubt: recordCommit,

    /**
     * Resolves when the service's record is durable; rejects then if `told`, which service that is, is not the one of the journal.
     * Calls `onOther` at once if so, so that nothing more is sent to it meanwhile.
     */
    async done(
      recordJson: string,
      reportedServiceId?: string,
      onOther: (error: MediaError) => void = () => {},
    ): Promise<void> {
      const {index, shown} = reader;
      const isOther = () =>
        reportedServiceId !== undefined && reportedServiceId !== (index.serviceId ?? reportedServiceId);
      if (isOther()) onOther(otherServiceError(index.serviceId, reportedServiceId, shown));
      const serviceId = reportedServiceId === index.serviceId ? undefined : reportedServiceId;
      await log.append({event: 'done', key, recordJson, serviceId});
      if (isOther()) throw otherServiceError(index.serviceId, reportedServiceId, shown);
    },

    /** Records that certainly nothing was stored; another commit may follow. Never call it for an unknown outcome. */
    async failed({code, message}: {code: string; message: string}): Promise<void> {
      recordIntent();
      await log.append({event: 'failed', key, error: {code, message}});
    },

    /** Ends this upload in this run. If it was committed and has no result, it is unknown. */
    end(): void {
      recordIntent();
      active.end();
    },
  };
}
