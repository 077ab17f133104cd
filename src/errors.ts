import {type Face, fact, facts, type Hint, hint, hintText, type Message, phrase, setting} from './hint.ts';
import {omitUndefined} from './lib/object.ts';
import {systemCode, systemReason} from './lib/system-code.ts';

type Trait =
  /** The next run may not meet it. */
  | 'passing'
  /** It ends this run, and the next one meets it too. */
  | 'lasting'
  /** It happens again until the file has changed. */
  | 'as it is'
  /** The file was not read. */
  | 'unread'
  /** The service could not be reached. */
  | 'unreachable'
  /** The journal takes no more lines. */
  | 'unrecorded';

/** Every `error.code`, with its exit status (docs/design/contract.md, "Exit status") and its traits. */
const codes = {
  usage: [2],
  nothing_matched: [2],

  no_key: [4],
  key_unavailable: [4],
  unauthorized: [4, 'lasting'],
  forbidden: [4, 'lasting'],
  not_found: [4, 'lasting'],

  host_not_found: [6],
  dns_unavailable: [6, 'passing', 'unreachable'],
  connection_refused: [6, 'passing', 'unreachable'],
  connect_timeout: [6, 'passing', 'unreachable'],
  connect_failed: [6, 'passing', 'unreachable'],
  outage: [6, 'passing'],

  tls_failed: [1],
  proxy_failed: [1, 'passing'],
  not_http: [1],
  redirected: [1],
  rejected: [1, 'as it is'],
  rate_limited: [1, 'passing'],
  service_unavailable: [1, 'passing'],
  service_failed: [1, 'passing'],
  premature_response: [1],
  connection_lost: [1, 'passing'],
  stalled: [1, 'passing'],
  deadline_exceeded: [1, 'passing'],
  unexpected_response: [1, 'passing'],

  file_missing: [1, 'unread'],
  file_unreadable: [1, 'as it is', 'unread'],
  too_many_open_files: [1, 'passing'],
  not_a_file: [1, 'as it is', 'unread'],
  empty_file: [1, 'as it is', 'unread'],
  not_media: [1, 'as it is'],
  type_mismatch: [1, 'as it is'],
  geotags_unstrippable: [1, 'as it is'],
  source_changed: [1, 'passing'],
  clipboard_empty: [1],
  clipboard_unusable: [1],
  outside_root: [1],
  local_reference: [1],
  document_changed: [1],
  document_too_complex: [1],

  config_unusable: [1],
  state_unwritable: [1],
  output_failed: [1],
  local_failure: [1, 'lasting'],

  record_mismatch: [1],
  no_url: [1],

  outcome_unknown: [5],
  journal_in_use: [1, 'unrecorded'],
  journal_of_other_service: [1],
  journal_unusable: [1, 'lasting'],
  journal_failed: [1, 'lasting', 'unrecorded'],
  journal_unproven: [1],
  journal_unverified: [6],
  manifest_outdated: [1],

  not_tried: [1],
  interrupted: [1, 'passing'],
  internal: [7],
} as const satisfies Record<string, readonly [exitStatus: number, ...Trait[]]>;

/** The exit status of a run with these statuses (docs/design/contract.md): the first of 7, 5, 4, 3, 6 and 1, else 0. */
export function firstStatus(statuses: ReadonlySet<number>): number {
  return [7, 5, 4, 3, 6].find(status => statuses.has(status)) ?? (statuses.size > 0 ? 1 : 0);
}

/** A stable name for what went wrong; listed in docs/errors.md, relied on by scripts. */
export type ErrorCode = keyof typeof codes;

export const errorCodes = Object.freeze(Object.keys(codes)) as readonly ErrorCode[];

/** The exit status of each. */
export const exitStatusOf = Object.fromEntries(errorCodes.map(code => [code, codes[code][0]])) as Record<
  ErrorCode,
  number
>;

/** Whether failures with this code have the trait. */
export function hasTrait(code: ErrorCode, trait: Trait): boolean {
  return codes[code].some(one => one === trait);
}

/** Whether a failure is that of a run, which many files share: it ended the run, or the run had ended. */
export function isOfRun(code: ErrorCode): boolean {
  return code === 'not_tried' || hasTrait(code, 'lasting');
}

export interface MediaErrorDetails<Advice extends Hint = Hint> {
  /** What to type or do next, as one sentence or command. */
  hint?: Advice | undefined;
  status?: number | undefined;
  /** The `code` of the service's error record; the interface does not document its meaning. */
  serviceCode?: number | undefined;
  cause?: unknown;
}

/** A failure that a user can understand: a stable code, one sentence, and what to do next. */
export class MediaError<Advice extends Hint = Hint> extends Error {
  override readonly name = 'MediaError';
  readonly code: ErrorCode;
  readonly hint?: Advice;
  readonly status?: number;
  readonly serviceCode?: number;
  /** What the message quotes of a page. */
  readonly words?: string;
  readonly #sentence: Message;

  constructor(code: ErrorCode, message: Message, details: MediaErrorDetails<Advice> = {}) {
    // What the message quotes of a page is known apart, in `words`.
    const pages: string[] = [];
    const {cause, hint, status, serviceCode} = details;
    const text = messageText(message, {page: words => pages[pages.push(words) - 1]});
    super(text, omitUndefined({cause}));
    this.code = code;
    this.#sentence = message;
    Object.assign(this, omitUndefined({hint, status, serviceCode, words: pages[0]}));
  }

  /** The message as it was made, for another that contains it. */
  get sentence(): Message {
    return this.#sentence;
  }

  /** The message without words of a page: those may hold the id of a request, and are not stored or published. */
  get messageToKeep(): string {
    return messageText(this.#sentence, {page: undefined});
  }

  /** The same failure with another sentence or hint. */
  reword<Other extends Hint = never>(changed: {message?: Message; hint?: Other | undefined}) {
    const {code, status, serviceCode, cause} = this;
    const details = {hint: changed.hint ?? this.hint, status, serviceCode, cause};
    return new MediaError<Advice | Other>(code, changed.message ?? this.#sentence, details);
  }

  /** The same failure, and its causes, with their hints in the words of a face. */
  inWordsOf(face: Face): PlainError {
    const {code, status, serviceCode} = this;
    const hint = this.hint && hintText(this.hint, face);
    const cause = this.cause instanceof MediaError ? this.cause.inWordsOf(face) : this.cause;
    return new MediaError(code, this.#sentence, {hint, status, serviceCode, cause});
  }
}

/** A message as text; `changed`: facts to write in another way, or to leave out (undefined) with their clause. */
export function messageText(message: Message, changed: Partial<Face['fact']> = {}): string {
  return hintText(message, {fact: {...facts, ...changed}} as Face) ?? '';
}

/** The end of a sentence that quotes the words of a page; a full stop if there are none (''). */
export function quoted(words: string): Message {
  return phrase`${words && phrase`: "${fact('page', words)}"`}.`;
}

/** A failure whose hint is text. */
export type PlainError = MediaError<string>;

/** A refusal of a file whose bytes are neither an image nor a video. */
export class NotMediaError extends MediaError {
  /** Whether its name or its first bytes say that it is an image or a video. */
  readonly isCalledMedia: boolean;

  constructor(message: Message, details: MediaErrorDetails & {isCalledMedia: boolean}) {
    super('not_media', message, details);
    this.isCalledMedia = details.isCalledMedia;
  }
}

/** A refusal of a file that the run itself writes; a walk leaves it out. */
export class OwnFileError extends MediaError {
  constructor(name: string) {
    super('not_media', `${name} is written by this run.`);
  }
}

/** Whether a proxy returned a page in place of a tunnel: no service can be reached until someone has logged in. */
export function isPage({code, status = 0}: MediaError): boolean {
  return code === 'proxy_failed' && status >= 200 && status < 400;
}

/** Whether the service could not be reached, which includes a proxy's 5xx, and a gateway that refuses unasked. */
export function isUnreachable(error: MediaError): boolean {
  const {code, status = 0} = error;
  if (code === 'not_http') return status >= 400;
  return hasTrait(code, 'unreachable') || isPage(error) || (code === 'proxy_failed' && status >= 500);
}

/** The error for a request that its connection or this process broke; judge() decides whether a file may be stored. */
export function brokenRequestError(cause: unknown, host: string): MediaError {
  if (cause instanceof MediaError) return cause;
  const code = systemCode(cause) ?? '';
  const problem = cause instanceof Error ? protocolProblem(cause) : undefined;
  if (problem === undefined && !codesOfPeers.test(code) && !certificateCodes.test(code)) {
    const isForWasm = /wasm|WebAssembly/i.test(String(cause));
    const why = isForWasm ? 'there is too little address space for WebAssembly' : systemReason(cause);
    const advice = isForWasm
      ? 'It needs about 12 GB. Raise the limit with ulimit -v, or set: NODE_OPTIONS=--disable-wasm-trap-handler'
      : 'If it fails again, report it.';
    const sentence = `The request failed in this process: ${why}.`;
    return new MediaError('local_failure', sentence, {hint: advice, cause});
  }
  if (problem === undefined)
    return new MediaError('connection_lost', `The connection to ${host} broke.`, {cause});
  const advice =
    code === 'UND_ERR_HEADERS_OVERFLOW'
      ? 'Ask its operator to send fewer header fields, such as cookies.'
      : hint`Check the scheme, the host and the port of ${setting('baseUrl')}.`;
  return new MediaError('not_http', `${host} ${problem}.`, {hint: advice, cause});
}

/** What Node calls a certificate that it does not accept. */
export const certificateCodes =
  /^(ERR_TLS|CERT_|CRL_|ERROR_IN_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH|UNSPECIFIED$)/;

/** The codes of what a socket, a name server, TLS and the bytes of a response fail with. */
const codesOfPeers =
  /^(E(AI_|CONN|HOST|NET|ADDR|AFNO|PROTO|PIPE|TIMEDOUT|NOTFOUND|NOTCONN|ACCES|PERM|INVAL$|NOBUFS)|ERR_(SSL|STREAM|SOCKET)_|HPE_|UND_ERR_(SOCKET|HEADERS_OVER|RES_|INFO|ABORTED|DESTROYED|CLOSED))/;

/** How a response violates HTTP/1.1, as the end of a sentence; undefined if the error is not about a response. */
function protocolProblem(error: Error & {code?: string; data?: string}): string | undefined {
  const {code = '', data = ''} = error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'sent header fields of more than 300 KiB';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'sent a response with two lengths';
  if (error.message === 'bad upgrade') return 'switched to another protocol, which was not asked for';
  // An alert of TLS (RFC 8446, section 5.1), and the settings that begin HTTP/2 (RFC 9113, sections 3.4 and 6.5).
  if (data.startsWith('\x15\x03')) return 'responded in TLS: its URL begins with https://';
  if (data.startsWith('\0') && data[3] === '\x04') return 'responded in HTTP/2, not in HTTP/1.1';
  if (/\(Expected HTTP\//.test(error.message)) return 'did not respond in HTTP';
  const why = syntaxError(error);
  return why && `sent a response that is ${why}`;
}

/** What undici's parser says of a response that it cannot read; undefined for any other error. */
export function syntaxError({name, message}: Error): string | undefined {
  if (name !== 'HTTPParserError') return undefined;
  return `not valid HTTP/1.1: ${/\((.*)\)$/.exec(message)?.[1] ?? message}`;
}

/** For `catch`: the error, if a user can understand it; throws any other, which is a bug. */
export function unlessBug(error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  throw error;
}

/** Throws a usage error if several of the names are `-`, since standard input can be read only once. */
export function refuseStdinTwice(names: readonly (string | undefined)[], hint: Hint): void {
  if (names.filter(name => name === '-').length > 1)
    throw new MediaError('usage', 'Standard input (-) was given twice, but can be read only once.', {hint});
}

/** The error for a failed call of the system: its sentence is `what`, a colon and the system's reason. */
export function systemError(code: ErrorCode, what: Message, cause: unknown, hint?: Hint): MediaError {
  return new MediaError(code, phrase`${what}: ${systemReason(cause)}.`, {hint, cause});
}

/** The error for a source without content: `Standard input was empty`. */
export function emptyFileError(name: string, verb: 'is' | 'was'): MediaError {
  const subject = fact('subject', name, verb);
  return new MediaError('empty_file', phrase`${subject} empty: there is nothing to upload.`);
}

/** The error for a file whose content has changed before the last of its bytes were sent: `how`, in a clause. */
export function sourceChanged(name: string, how: string): MediaError {
  const hint = 'Nothing was stored. Upload it again when no program is writing to it.';
  const sentence = phrase`${fact('subject', name)} changed while it was being uploaded: ${how}.`;
  return new MediaError('source_changed', sentence, {hint});
}

/** The error for a call that found no file descriptor left; `orElse`: another way, as a clause of the hint. */
export function tooManyOpen(what: Message, cause: unknown, orElse: Hint = ''): MediaError {
  const details = {hint: hint`Raise the limit with ulimit -n${orElse}.`, cause};
  return new MediaError('too_many_open_files', phrase`${what}: too many files are open.`, details);
}

/** For `catch`: throws systemError() with the caught error as its cause. */
export function throwAs(code: ErrorCode, what: Message, hint?: Hint): (cause: unknown) => never {
  return cause => {
    throw systemError(code, what, cause, hint);
  };
}
