import {systemCode, systemReason} from './lib/system-code.ts';

type Trait =
  /** The next run may not meet it. */
  | 'passing'
  /** It ends this run, and the next one meets it too. */
  | 'lasting'
  /** It is about a file, whose name is in the message; other failures are about the service. */
  | 'of a file'
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
  premature_answer: [1],
  connection_lost: [1, 'passing'],
  stalled: [1, 'passing'],
  deadline_exceeded: [1, 'passing'],
  unexpected_answer: [1, 'passing'],

  file_missing: [1, 'of a file', 'unread'],
  file_unreadable: [1, 'of a file', 'as it is', 'unread'],
  too_many_open_files: [1, 'passing', 'of a file'],
  not_a_file: [1, 'of a file', 'as it is', 'unread'],
  empty_file: [1, 'of a file', 'as it is', 'unread'],
  not_media: [1, 'of a file', 'as it is'],
  type_mismatch: [1, 'of a file', 'as it is'],
  geotags_unstrippable: [1, 'of a file', 'as it is'],
  source_changed: [1, 'passing', 'of a file'],
  clipboard_empty: [1],
  clipboard_unusable: [1],
  outside_root: [1],
  local_reference: [1],
  document_changed: [1],
  document_too_complex: [1],

  config_unusable: [1],
  state_unwritable: [1],
  output_failed: [1],
  local_failure: [1, 'lasting', 'of a file'],

  record_mismatch: [1],
  no_url: [1, 'of a file'],

  outcome_unknown: [5, 'of a file'],
  journal_in_use: [1, 'unrecorded'],
  journal_of_other_service: [1],
  journal_unusable: [1, 'lasting'],
  journal_failed: [1, 'lasting', 'unrecorded'],
  journal_unproven: [1],
  journal_unverified: [6],

  not_tried: [1, 'of a file'],
  interrupted: [1, 'passing'],
  internal: [7],
} as const satisfies Record<string, readonly [exitStatus: number, ...Trait[]]>;

/** The exit status where several apply: the first of 7, 5, 4, 3, 6 and 1; without any, 0 (docs/design/contract.md). */
export function firstStatus(statuses: ReadonlySet<number>): number {
  return [7, 5, 4, 3, 6].find(status => statuses.has(status)) ?? (statuses.size > 0 ? 1 : 0);
}

/** A stable name for what went wrong; listed in docs/errors.md, relied on by scripts. */
export type ErrorCode = keyof typeof codes;

/** Every error code. */
export const errorCodes = Object.freeze(Object.keys(codes)) as readonly ErrorCode[];

/** The exit status of each code. */
export const exitStatusOf = Object.fromEntries(errorCodes.map(code => [code, codes[code][0]])) as Record<
  ErrorCode,
  number
>;

/** Whether failures with this code have a trait. */
export function hasTrait(code: ErrorCode, trait: Trait): boolean {
  return codes[code].some(one => one === trait);
}

export interface MediaErrorDetails {
  /** What to type or do next, as one sentence or command. */
  hint?: string | undefined;
  /** The HTTP status of the response, if there was one. */
  status?: number | undefined;
  /** The `code` of the service's error record; the interface does not document its meaning. */
  serviceCode?: number | undefined;
  /** What the message quotes of a page, as `: "..."` or ` ("...")`. */
  words?: string | undefined;
  cause?: unknown;
}

/** A failure that a user can understand: a stable code, one sentence, and what to do next. */
export class MediaError extends Error {
  override readonly name = 'MediaError';
  readonly code: ErrorCode;
  readonly hint?: string;
  readonly status?: number;
  readonly serviceCode?: number;
  readonly words?: string;

  constructor(code: ErrorCode, message: string, details: MediaErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : {cause: details.cause});
    this.code = code;
    if (details.hint !== undefined) this.hint = details.hint;
    if (details.status !== undefined) this.status = details.status;
    if (details.serviceCode !== undefined) this.serviceCode = details.serviceCode;
    if (details.words) this.words = details.words;
  }

  /** The message without the words of a page, which may contain the id of a request: fit to be stored or published. */
  get messageToKeep(): string {
    return this.message.replace(` ("${this.words}")`, '').replace(`: "${this.words}"`, '');
  }

  /** The same failure with another sentence or hint. */
  reword({
    message = this.message,
    hint = this.hint,
  }: {
    message?: string;
    hint?: string | undefined;
  }): MediaError {
    const {code, status, serviceCode, words, cause} = this;
    return new MediaError(code, message, {hint, status, serviceCode, cause, words});
  }
}

/** A refusal of a file whose bytes are neither an image nor a video. */
export class NotMediaError extends MediaError {
  /** Whether its name or its first bytes say that it is an image or a video. */
  readonly isCalledMedia: boolean;

  constructor(message: string, details: MediaErrorDetails & {isCalledMedia: boolean}) {
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

/** Whether a proxy responded with a page instead of a tunnel, as a network does until someone has logged in. */
export function isPage({code, status = 0}: MediaError): boolean {
  return code === 'proxy_failed' && status >= 200 && status < 400;
}

/**
 * Whether the service could not be reached, which may pass. A proxy whose service is away says it by 5xx, and a service
 * that has too many connections by a refusal before it was asked.
 */
export function isUnreachable(error: MediaError): boolean {
  const {code, status = 0} = error;
  if (code === 'not_http') return status >= 400;
  return hasTrait(code, 'unreachable') || isPage(error) || (code === 'proxy_failed' && status >= 500);
}

/**
 * The error for a request that broke, on its connection or in this process. It does not say whether a file was stored.
 */
export function describeBroken(cause: unknown, host: string): MediaError {
  if (cause instanceof MediaError) return cause;
  const code = systemCode(cause) ?? '';
  const problem = cause instanceof Error ? protocolProblem(cause) : undefined;
  if (problem === undefined && !codesOfPeers.test(code) && !certificateCodes.test(code)) {
    const isForWasm = /wasm|WebAssembly/i.test(String(cause));
    const why = isForWasm ? 'there is too little address space for WebAssembly' : systemReason(cause);
    const hint = isForWasm
      ? 'It needs about 12 GB. Raise the limit with ulimit -v, or set: NODE_OPTIONS=--disable-wasm-trap-handler'
      : 'If it fails again, report it.';
    return new MediaError('local_failure', `The request failed in this process: ${why}.`, {hint, cause});
  }
  return problem === undefined
    ? new MediaError('connection_lost', `The connection to ${host} broke.`, {cause})
    : new MediaError('not_http', `${host} ${problem}.`, {
        cause,
        hint: problem.startsWith('sent header fields')
          ? 'Ask its operator to send fewer header fields, such as cookies.'
          : 'Check the scheme, the host and the port of the base URL.',
      });
}

/** What Node calls a certificate that it does not accept. */
export const certificateCodes =
  /^(ERR_TLS|CERT_|CRL_|ERROR_IN_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH|UNSPECIFIED$)/;

/** The codes of what a socket, a name server, TLS and the bytes of a response fail with. */
const codesOfPeers =
  /^(E(AI_|CONN|HOST|NET|ADDR|AFNO|PROTO|PIPE|TIMEDOUT|NOTFOUND|NOTCONN|ACCES|PERM|INVAL$|NOBUFS)|ERR_(SSL|STREAM|SOCKET)_|HPE_|UND_ERR_(SOCKET|HEADERS_OVER|RES_|INFO|ABORTED|DESTROYED|CLOSED))/;

/** What a response has against HTTP/1.1, by undici's error. */
function protocolProblem(error: Error & {code?: string; data?: string}): string | undefined {
  const {code = '', data = ''} = error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'sent header fields of more than 300 KiB';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'sent a response with two lengths';
  if (error.message === 'bad upgrade') return 'switched to another protocol, which was not asked for';
  // An alert of TLS (RFC 8446, section 5.1), and the settings that begin HTTP/2 (RFC 9113, sections 3.4 and 6.5).
  if (data.startsWith('\x15\x03')) return 'responded in TLS: its URL begins with https://';
  if (data.startsWith('\0') && data[3] === '\x04') return 'responded in HTTP/2, not in HTTP/1.1';
  const why = syntaxError(error);
  return why?.includes(': Expected HTTP/')
    ? 'did not respond in HTTP'
    : why && `sent a response that is ${why}`;
}

/** What undici's parser says of a response that it cannot read. */
export function syntaxError({name, message}: Error): string | undefined {
  if (name !== 'HTTPParserError') return undefined;
  return `not valid HTTP/1.1: ${/\((.*)\)$/.exec(message)?.[1] ?? message}`;
}

/** For `catch`: the error, if a user can understand it; throws any other, which is a bug. */
export function unlessBug(error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  throw error;
}

/** Throws if standard input, which can be read only once, is named (`-`) for several things. */
export function refuseStdinTwice(names: readonly (string | undefined)[], hint: string): void {
  if (names.filter(name => name === '-').length > 1)
    throw new MediaError('usage', 'Standard input (-) was given twice, but can be read only once.', {hint});
}

/** The error for a failed call of the system: its sentence is `what`, a colon and the system's reason. */
export function systemError(code: ErrorCode, what: string, cause: unknown, hint?: string): MediaError {
  return new MediaError(code, `${what}: ${systemReason(cause)}.`, {hint, cause});
}

/** The error for a file whose content has changed before the last of its bytes were sent: `how`, in a clause. */
export function sourceChanged(name: string, how: string): MediaError {
  const hint = 'Nothing was stored. Upload it again when no program is writing to it.';
  return new MediaError('source_changed', `${name} changed while it was being uploaded: ${how}.`, {hint});
}

/** The error for a call that found no file descriptor left; `orElse` continues the hint. */
export function tooManyOpen(what: string, cause: unknown, orElse = ''): MediaError {
  const hint = `Raise the limit with ulimit -n${orElse}.`;
  return new MediaError('too_many_open_files', `${what}: too many files are open.`, {hint, cause});
}

/** For `catch`: rejects with that error. */
export function throwAs(code: ErrorCode, what: string, hint?: string): (cause: unknown) => never {
  return cause => {
    throw systemError(code, what, cause, hint);
  };
}
