import type {MediaRecord} from '../../engine/service/record.ts';
import type {OutcomeFacts} from '../../engine/transfer/outcome.ts';
import type {ErrorCode} from '../../errors.ts';

/**
 * The JSON that commands print, by the names of its schemas. `npm run completions` makes the schemas in docs/schemas
 * and the tables of the docs from these types: the comment of a field is its description there.
 */
export interface JsonOutputs {
  record: PrintedRecord;
  upload: ResultLine;
  error: ErrorLine;
  whoami: WhoamiReport;
  doctor: DoctorReport;
  'config-list': SettingList;
  'journal-list': JournalEntryLine;
  'journal-check': JournalCheckLine;
  rewrite: ReferenceLine | UnchangedLine | DialectLine;
  watch: (ResultLine & DisposalFields) | WatchEvent;
  serve: ServeLine;
  manifest: ManifestFile;
}

/** A record as the service returned it; every digit of its numbers is kept, and no type is checked. */
export interface PrintedRecord extends MediaRecord {
  /** Always present; printed as a number if the service sends one. */
  id: string;
}

export interface ErrorFields {
  /** one of the error codes */
  code: ErrorCode;
  /** what happened, as a sentence */
  message: string;
  /** the HTTP status of the response */
  status?: number;
  /** the `code` in the error record of the service */
  serviceCode?: number;
  /** what to do next */
  hint?: string;
}

interface FileFields {
  /** the name, as you gave it or as it was found */
  file: string;
  /** the bytes of the name in base64, if it is not UTF-8 */
  fileBase64?: string;
}

/** What a line says of the facts of an outcome, in this order. */
export const reportedFacts = [
  'sha256',
  'contentType',
  'warning',
  'verified',
  'geotags',
  'size',
  'attempts',
  'elapsedMs',
] as const satisfies readonly (keyof OutcomeFacts)[];

export interface ResultLine extends FileFields, Pick<OutcomeFacts, (typeof reportedFacts)[number]> {
  /**
   * `uploaded`, `skipped` (uploaded before), `checked` (in a dry run), `mismatched` (with `--verify strict`), `failed`
   * or `unknown`
   */
  status: 'uploaded' | 'skipped' | 'checked' | 'mismatched' | 'failed' | 'unknown';
  /** the media ID, if the file is stored */
  id?: string;
  /** its URL: of the `PUBLIC` variant, else `fileUrl`; absent if there is neither */
  url?: string;
  /** why it is not stored or recorded, or how its record differs */
  error?: ErrorFields;
  /** the record of the service, if the file is stored */
  record?: PrintedRecord;
}

export interface ErrorLine {
  error: ErrorFields & {
    /** the input that failed; absent if several or the whole run did */
    file?: string;
    /** the number of inputs, if several */
    count?: number;
  };
}

export interface WhoamiReport {
  /** the profile in use */
  profile: string;
  /** the service, or `null` */
  baseUrl: string | null;
  /** where the service was set: `--base-url`, `MEDIA_BASE_URL` or `profile NAME` */
  baseUrlSource: string | null;
  /**
   * the end of the key and where it is from (`environment`, `profile`, `keychain`, `command` or `embedded`), or `null`
   */
  key: {
    masked: string;
    source: 'environment' | 'profile' | 'keychain' | 'command' | 'embedded';
  } | null;
  status: 'accepted' | 'rejected' | 'denied' | 'unreachable' | 'unclear' | 'missing';
  /** the HTTP status of the response */
  httpStatus?: number;
  /** why the key is not accepted */
  message?: string;
  /** what to do next, unless the key is accepted */
  hint?: string;
  /** the page where keys are changed, if the key is rejected */
  profileUrl?: string;
  /** whose key it is, if the service reports it */
  identity?: {id?: string; name?: string; email?: string; username?: string};
}

export interface DoctorReport {
  /** `failed` if a check failed, else `ok` */
  status: 'ok' | 'failed';
  /**
   * a list: `installation`, `configuration`, `file-modes`, `base-url`, `proxy`, `dns`, `connection`, `tls`, `key`,
   * `upload-path`, in this order, each with the fields `check`, `status` (`ok`, `warning`, `unverified`, `skipped` or
   * `failed`), and `message`, or `error` as in a failure
   */
  checks: (
    | {check: string; status: 'ok' | 'warning' | 'unverified' | 'skipped'; message: string}
    | {check: string; status: 'failed'; error: ErrorFields}
  )[];
}

export interface SettingList {
  settings: {
    /** the setting */
    name: string;
    /** its value in force */
    value: string;
    /** where it was set: an option, a variable, or `profile NAME` */
    source: string;
  }[];
  /** the names of all profiles */
  profiles: string[];
  /** the path of the settings file */
  path: string;
}

export interface JournalEntryLine extends FileFields {
  /** `uploaded`, `failed`, `unknown`, `pending` (a run is uploading it, or ended before it was done) or `forgotten` */
  status: 'uploaded' | 'failed' | 'unknown' | 'pending' | 'forgotten';
  /** why it failed or is unknown */
  error?: {code: string; message: string};
  /** the size in bytes */
  size: number;
  /** the Idempotency-Key of its upload */
  idempotencyKey?: string;
  /** the journal */
  journal: string;
  /** the record of the service, if the file is stored */
  record?: PrintedRecord;
}

export interface JournalCheckLine extends FileFields {
  /** `missing`, `doubled`, `unknown`, or `refused` if an upload would refuse the file, such as an empty one */
  status: 'missing' | 'doubled' | 'unknown' | 'refused';
  /** why, as a sentence */
  reason: string;
  /** the media IDs that the journals have for it */
  ids: readonly string[];
}

/** Fields that are not listed stay as they are. */
export interface ManifestFile {
  /** the version of this format */
  version: 1;
  /** the base URL of the service */
  service: string;
  /** the ID of the service, if it sends one */
  serviceId?: string;
  /** what is stored, by the path of the file from the directory of the manifest, with `/` */
  files: Record<string, ManifestContent & {contentType: string} & StoredFields>;
  /** what was sent without a known result, and blocks its content until it is settled, by the path of the file */
  unknown?: Record<string, ManifestContent>;
}

interface StoredFields {
  /** the URL, as `--format url` prints it; absent if the record has none */
  url?: string;
  /** the record of the service */
  record: PrintedRecord;
}

interface ManifestContent {
  /** the SHA-256 of the file, in hex */
  sha256: string;
  /** the size of the file, in bytes */
  size: number;
  /** the content type under which it was sent */
  contentType?: string;
  /** what was changed in the bytes that were sent, such as `geotags/2` */
  transform?: string;
  /** `true` for standard input, which `--name` names */
  stdin?: true;
}

export interface ReferenceLine {
  /** the document */
  file: string;
  /** the line of the reference, counted from 1; absent if the whole document failed */
  line?: number;
  /** the column of its first character, counted from 1 */
  column?: number;
  /** the reference as it is written */
  source?: string;
  /** the file that it refers to */
  path?: string;
  /** the URL, if the file was uploaded */
  url?: string;
  /** as in `media upload --ndjson`; `local` with `--check` */
  status: ResultLine['status'] | 'local';
  /** as in `media upload --ndjson` */
  geotags?: ResultLine['geotags'];
  /** why the file cannot be uploaded, or the reference or the document not rewritten */
  error?: ErrorFields;
}

/** References to local media that are left as they are. */
export interface UnchangedLine {
  unchanged: {
    /** the document */
    file: string;
    /**
     * `shortcode` (of Hugo), `template` (what another template engine fills in), `import` or `expression` (of MDX),
     * `link` (without `--links`), or `front-matter` (a value of another key)
     */
    kind: 'shortcode' | 'template' | 'import' | 'expression' | 'link' | 'front-matter';
    /** how many there are */
    count: number;
  };
}

/** The project by whose rules documents are read. */
export interface DialectLine {
  dialect: {
    /** the file or directory that shows it, of MkDocs or Obsidian */
    projectFile: 'mkdocs.yml' | 'mkdocs.yaml' | '.obsidian';
    /** how many documents are below it */
    documents: number;
  };
}

export interface DisposalFields {
  /** the path that the file was moved to */
  movedTo?: string;
  /** `true`, if the file was deleted */
  deleted?: true;
}

interface DirectoryField {
  /** the directory, as you gave it */
  directory: string;
}

interface WaitingField {
  /** how many files wait */
  waiting: number;
}

/** What happens besides files in `media watch`: the fields of each event. */
interface WatchEvents {
  /** a directory is watched, for the first time or again */
  watching: DirectoryField;
  /** a directory has disappeared; `media` waits for it */
  gone: DirectoryField;
  /** the service is unavailable; repeated each minute */
  unavailable: WaitingField & {
    /** for how long */
    message: string;
  };
  /** the service is back */
  available: unknown;
  /** a file that was to be moved or deleted stays where it is; once for each `reason` */
  kept: {
    /** the file */
    file: string;
    /** why, as a sentence */
    reason: string;
  };
  /** files wait for another reason, and are tried again; once a minute for each `code` */
  delayed: WaitingField & {
    /** as for a file */
    error: ErrorFields;
  };
}

export type WatchEvent = {
  [Event in keyof WatchEvents]: {event: Event} & WatchEvents[Event];
}[keyof WatchEvents];

/** A line of the log of `media serve --ndjson`, on standard error. */
export type ServeLine = RequestLine | SignInLine;

/** a request */
interface RequestLine {
  request: {
    /** when it ended, in ISO 8601 */
    time: string;
    method: string;
    /** without the query */
    path: string;
    /** the status of the response; 0 if a fault prevented any */
    status: number;
    /** the bytes of the request's body, or of the response's if it had none */
    bytes: number;
    /** how long it took, in milliseconds */
    elapsedMs: number;
    /** the faults that were applied, if any */
    faults?: readonly string[];
  };
}

/** a link to the pages, which works once */
interface SignInLine {
  signIn: {url: string};
}
