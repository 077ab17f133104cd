import {type MediaError, sourceChanged} from '../../errors.ts';
import type {ActiveUpload} from './active-uploads.ts';
import type {JournalIndex} from './journal-index.ts';
import type {Intent} from './line.ts';
import type {JournalLog} from './log.ts';
import {otherServiceError} from './scope.ts';

interface UploadLogParts {
  idempotencyKey: string;
  /** The key of an earlier, unknown upload of the same content. It stays unknown if this upload fails. */
  unknownKey: string | undefined;
  /**
   * When an earlier run released an upload with the same idempotency key, in milliseconds since the Unix epoch; NaN if
   * no line has the time, undefined if none released one.
   */
  releasedAt: number | undefined;
  /** The SHA-256 of the content, in hex; undefined if the upload must compute it while it sends. */
  sha256: string | undefined;
  log: JournalLog;
  journal: {displayPath: string; manifest?: unknown; reader: {index: JournalIndex}};
  active: ActiveUpload;
  /** The SHA-256 of the content, in hex, when beginUpload() read it: the file may have changed since. */
  contentSha256: string | undefined;
  /** The intent that no line has yet; the next line of this upload records it. */
  unrecordedIntent: Intent | undefined;
}

/** The lines of one upload: the run calls a method at each transition, and the journal records it. */
export type UploadLog = ReturnType<typeof uploadLog>;

/** Makes the log of one upload. Call its end() in any case: later uploads of equal content wait for that. */
export function uploadLog(parts: UploadLogParts) {
  const {log, journal, active, idempotencyKey: key} = parts;
  let {contentSha256, unrecordedIntent} = parts;
  const recordIntent = () => {
    // If the write fails, every later line rejects, and the run ends there.
    if (unrecordedIntent !== undefined)
      log.append({event: 'intent', key, ...unrecordedIntent}).catch(() => {});
    unrecordedIntent = undefined;
  };
  const recordCommit = () => {
    const intent = unrecordedIntent;
    unrecordedIntent = undefined;
    return log.append({event: 'commit', key, sha256: contentSha256 ?? '', ...intent});
  };
  return {
    // No spread of `parts`: the copy takes a tenth of the journal's time for an upload.
    idempotencyKey: key,
    unknownKey: parts.unknownKey,
    releasedAt: parts.releasedAt,
    sha256: parts.sha256,
    /** The SHA-256 of the content, in hex, once it is known. */
    get contentSha256() {
      return contentSha256;
    },

    /**
     * Resolves when a line is durable that permits to send the last chunk. `sha256`: of the whole content, in hex.
     * Throws `source_changed` if an earlier hash differs: on some file systems a second write does not change the
     * file's times.
     */
    async commit(sha256: string): Promise<void> {
      if (contentSha256 !== undefined && sha256 !== contentSha256)
        throw sourceChanged('The file', 'it was rewritten');
      contentSha256 = sha256;
      active.announce(sha256);
      return recordCommit();
    },

    /** Records that an earlier attempt with this key is still unknown, although this attempt sent nothing. */
    recordUnknown: recordCommit,

    /**
     * Resolves when the service's record is durable. If the response reports another service ID than the journal's,
     * calls `onOther` at once, so that the run stops sending, and rejects when the record is durable.
     */
    async recordStored(
      recordJson: string,
      reportedServiceId?: string,
      onOther: (error: MediaError) => void = () => {},
    ): Promise<void> {
      const {index} = journal.reader;
      const kind = journal.manifest === undefined ? 'journal' : 'manifest';
      const otherService = () =>
        otherServiceError(index.serviceId, reportedServiceId, journal.displayPath, kind);
      const isOther = () =>
        reportedServiceId !== undefined && reportedServiceId !== (index.serviceId ?? reportedServiceId);
      if (isOther()) onOther(otherService());
      const serviceId = reportedServiceId === index.serviceId ? undefined : reportedServiceId;
      await log.append({event: 'done', key, recordJson, serviceId});
      // Meanwhile, another response may have been the first to name the service.
      if (isOther()) throw otherService();
    },

    /** Records that the service has stored nothing; a retry may commit again. Never call it for an unknown outcome. */
    async recordFailure({code, message}: {code: string; message: string}): Promise<void> {
      recordIntent();
      await log.append({event: 'failed', key, error: {code, message}});
    },

    /** Ends this upload in this run. A commit without a result makes it unknown. */
    end(): void {
      recordIntent();
      active.end();
    },
  };
}
