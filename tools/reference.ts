import type {FormatName} from '../src/cli/output/results/formats.ts';
import {settingNames, settingTable} from '../src/cli/settings/setting-table.ts';
import {retryableRefusals} from '../src/engine/service/uploader.ts';
import {type ErrorCode, exitStatusOf} from '../src/errors.ts';
import type {CompletionData} from './command-tree.ts';
import type {Schema} from './schemas.ts';
import {allCommands} from './walk-tree.ts';

/** A row of a reference table in Markdown: its name, and what it means. */
export type Row = readonly [name: string, ...cells: string[]];

/** The exit statuses (docs/errors.md). */
export const exitStatuses: readonly Row[] = [
  ['0', 'every input is uploaded, now or before'],
  ['1', 'no input was uploaded'],
  ['2', 'usage: a bad option or value, or nothing matched'],
  ['3', 'some inputs were uploaded and some failed'],
  ['4', 'no key is set, or the service returned 401, 403 or 404'],
  ['5', 'at least one outcome is unknown: check before you run again'],
  ['6', 'the service could not be reached'],
  ['7', 'an internal error: a bug in `media`'],
  ['130, 143, 129', 'ended by SIGINT, SIGTERM, SIGHUP'],
];

/** What each code means, and what to do then. */
const errorMeanings: Record<ErrorCode, readonly [meaning: string, hint: string]> = {
  usage: ['a bad option or value', 'follow the hint'],
  nothing_matched: [
    'a directory, pattern or list has no input',
    'check it; `--all` takes all kinds of files',
  ],
  no_key: ['no API key or base URL is set', '`media login`, or set `MEDIA_API_KEY` and `MEDIA_BASE_URL`'],
  key_unavailable: ['the keychain or `key-command` gave no key', 'unlock or fix it, or set `MEDIA_API_KEY`'],
  unauthorized: ['401: the key is not accepted', 'set another; `media whoami` shows where it is from'],
  forbidden: ['403: the key lacks permission, or the base URL is wrong', '`media doctor`'],
  not_found: ['404: as for 403', '`media doctor`'],
  host_not_found: ['no host has this name', 'check the base URL'],
  dns_unavailable: ['the name could not be looked up now', 'run again'],
  connection_refused: ['nothing listens at this address', 'check the base URL'],
  connect_timeout: ['connecting took too long', 'check network and proxy'],
  connect_failed: ['any other failure to connect', '`media doctor`'],
  outage: [
    'the service was away for longer than `--retry-max-wait`, or until `--deadline`',
    'run again later',
  ],
  tls_failed: [
    'the certificate was not accepted, or one of yours is required',
    '`media doctor`; `--cacert` trusts an authority',
  ],
  proxy_failed: ['the proxy refused, or returned a page', 'check the proxy variables'],
  not_http: ['the server does not speak HTTP/1.1', 'check the base URL'],
  redirected: [
    'the service redirects, which is never followed',
    'set the URL that the message names, if you trust it',
  ],
  rejected: ['any other refusal', 'do as the message says'],
  rate_limited: [
    `${[...retryableRefusals.keys()].join(', ')}, after all retries`,
    'run again later, or use a smaller `--concurrency`',
  ],
  service_unavailable: ['503, after all retries', 'run again later'],
  service_failed: ['408 or another 5xx, after all retries', 'run again later'],
  premature_response: [
    'success was reported before the file was complete',
    'check whether it is there; report this to the service',
  ],
  connection_lost: ['the connection broke before the file was complete', 'run again'],
  stalled: ['no progress before the file was complete', 'check the network, or set `--timeout`'],
  deadline_exceeded: ['`--deadline` passed, or `--timeout` of `media graphql`', 'allow more time'],
  unexpected_response: ['neither a record nor an error record', '`media doctor`'],
  file_missing: ['no such file', 'check the path'],
  file_unreadable: [
    'the file cannot be read, or the document is not text or has a damaged front matter',
    'check permissions, disk and content',
  ],
  too_many_open_files: ['the limit of open files was reached', '`ulimit -n`, or a smaller `--concurrency`'],
  not_a_file: ['a directory, FIFO, socket or device', 'name a file; directories need `-r`'],
  empty_file: ['the file is empty', 'check how it is made'],
  not_media: ['not an image or a video, or too short for one', 'leave it out, or set `--content-type`'],
  type_mismatch: ['`--types strict`: name and content disagree', 'rename it, or use `--types content`'],
  geotags_unstrippable: [
    '`--geotags strip`: it may hold a location that cannot be removed',
    'export it without location',
  ],
  source_changed: ['the file changed while it was sent; nothing was stored', 'run again'],
  clipboard_empty: ['neither a picture nor files in the clipboard', 'copy some'],
  clipboard_unusable: ['the clipboard cannot be read', 'install the program that the message names'],
  outside_root: ['`rewrite`: a reference leads outside the root directory', 'set `--root`, or move the file'],
  local_reference: ['`rewrite --check`: a reference to a local file', 'run the command of the hint'],
  document_changed: ['`rewrite`: the document changed meanwhile; not overwritten', 'run again'],
  document_too_complex: ['`rewrite`: the document is too large or nested too deeply', 'split it'],
  config_unusable: ['the settings file is damaged or unsafe', 'do as the message says'],
  state_unwritable: ['the journal of `--once` cannot be used', 'follow the hint, or use `--no-once`'],
  output_failed: ['standard output cannot be written', 'free space; run again with its journal'],
  local_failure: [
    'a problem of this machine, such as a full disk or a port in use',
    'do as the message says',
  ],
  record_mismatch: [
    '`--verify strict`: stored, but the record differs from the file',
    'look at it; it is not sent again',
  ],
  no_url: ['stored, but the service returned no URL', 'find it by its media ID'],
  outcome_unknown: [
    'the whole file was sent and no clear response came',
    'check whether it is there, then `media journal resolve`',
  ],
  journal_in_use: ['another run uses the journal, or took it over', 'wait for it'],
  journal_of_other_service: ['the journal belongs to another service, store or account', 'use another'],
  journal_unusable: [
    'not a journal, damaged, of another version or part, or others can change it',
    'name the right one, or use a copy',
  ],
  journal_failed: ['the journal cannot be read or written', 'fix the disk, and run again'],
  journal_unproven: [
    '`journal check` or `merge`: an input is not recorded exactly once',
    'upload it with this journal, or settle it',
  ],
  journal_unverified: ['the service does not say whether the journal is its own', 'run again later'],
  manifest_outdated: [
    '`--check`: the manifest lacks a file as it is now',
    'run without `--check`, and commit the manifest',
  ],
  not_tried: ['the run ended before this input', 'run again'],
  interrupted: ['stopped by a signal, or cancelled at a prompt', 'run again with its journal'],
  internal: ['a bug in `media`', 'report it'],
};

/** Every `error.code`, its exit status, its meaning, and what to do then. */
export const errorCodes: readonly Row[] = Object.entries(exitStatusOf).map(([code, status]) => [
  `\`${code}\``,
  String(status),
  ...errorMeanings[code as ErrorCode],
]);

const formatMeanings: Record<FormatName, Row> = {
  table: [
    '`--format table`',
    'the default: the fields of one record, or one row per input, failures included',
  ],
  json: ['`--json`', "the service's record as it returned it, one line each"],
  ndjson: ['`--ndjson`', 'one line per input as it completes, failures included'],
  url: ['`--format url`', 'the public URL, else `fileUrl`; an empty line without either (`no_url`)'],
  markdown: [
    '`--format markdown`',
    '`![name](url)` for an image, `[name](url)` for anything else; an empty line without a web URL',
  ],
};

/** The output formats, by the options that choose them. */
export const formats: readonly Row[] = Object.values(formatMeanings);

/** The fields of an object, with what each is, or else its values. */
export function fieldsOf({properties = {}}: Schema): readonly Row[] {
  return Object.entries(properties).map(([name, {description, enum: values = []}]) => [
    code(name),
    description === undefined ? values.map(value => code(String(value))).join(', ') : phrase(description),
  ]);
}

/** A sentence as the cell of a table. */
function phrase(sentence: string): string {
  return sentence.replace(/^[A-Z](?=[a-z ])/, first => first.toLowerCase()).replace(/\.$/, '');
}

/** The settings of a profile, with the option and the variable that take precedence over each. */
export function settingsOf({program, globalOptions}: CompletionData): readonly Row[] {
  const options = [...globalOptions, ...allCommands(program).flatMap(command => command.options)];
  return settingNames.map(name => {
    const flag = options.some(({setting}) => setting === name) ? `--${name}` : undefined;
    return [code(name), code(flag), code(settingTable[name].variable), settingTable[name].meaning];
  });
}

/** The environment variables that a user sets. */
export const environment: readonly Row[] = [
  ['`MEDIA_API_KEY`', 'the API key'],
  ['`MEDIA_BASE_URL`', 'the service, as in `--base-url`'],
  ['`MEDIA_PROFILE`', 'the profile, as in `--profile`'],
  [
    '`MEDIA_CONCURRENCY`, `MEDIA_LIMIT_RATE`, `MEDIA_RETRY_MAX_WAIT`',
    'how fast files are sent, as the options of these names',
  ],
  ['`MEDIA_IDEMPOTENCY_KEYS`', '`1` (honoured) or `0` (ignored), as the setting'],
  ['`MEDIA_CONFIG_DIR`', 'the directory of the settings'],
  ['`MEDIA_CLIENT_CERT`, `MEDIA_CLIENT_KEY`', 'your certificate and its private key, as PEM files'],
  ['`MEDIA_CLIENT_KEY_PASSPHRASE`', 'the passphrase of the private key'],
  ['`MEDIA_SHARD_COUNT`', 'the number of parts, for `--shard auto`'],
  ['`MEDIA_SERVE_KEY`, `MEDIA_SERVE_KEY_FILE`', 'the key for `media serve`, or its file'],
  ['`MEDIA_SERVE_HOST`, `MEDIA_SERVE_PORT`', 'where `media serve` listens'],
  ['`MEDIA_SERVE_PUBLIC_URL`, `MEDIA_SERVE_SEED`, `MEDIA_SERVE_DATA_DIR`', 'options of `media serve`'],
  [
    '`MEDIA_SERVE_ALLOW_HOST`, `MEDIA_SERVE_ALLOW_ORIGIN`, `MEDIA_SERVE_FAULT`',
    'options of `media serve`; spaces separate values',
  ],
  ['`MEDIA_SHARP`', 'the absolute path of sharp, for thumbnails'],
  [
    '`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`',
    'the proxy, and hosts without it; lower case takes precedence',
  ],
  ['`NODE_EXTRA_CA_CERTS`', 'a PEM file of further authorities to trust'],
  ['`NO_COLOR`, `FORCE_COLOR`', 'never or always print in colour'],
  ['`CI`', 'if set, nothing is animated'],
  ['`TERM`', '`dumb`: neither animation nor colour'],
  ['`LC_ALL`, `LC_CTYPE`, `LANG`', 'the locale: without UTF-8, boxes are ASCII'],
  ['`NODE_DISABLE_COMPILE_CACHE`', '`1`: no cache of compiled code'],
  [
    '`XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME`',
    'on Linux, the parents of settings, data and journals',
  ],
];

/** The files that the program keeps, with their paths on Linux, macOS and Windows. */
export const files: readonly Row[] = [
  [
    'settings and, without a keychain, API keys',
    '`~/.config/media/config.json`',
    '`~/Library/Preferences/media/config.json`',
    '`%APPDATA%\\media\\Config\\config.json`',
  ],
  [
    'what the embedded service stores',
    '`~/.local/share/media/embedded/`',
    '`~/Library/Application Support/media/embedded/`',
    '`%LOCALAPPDATA%\\media\\Data\\embedded\\`',
  ],
  [
    'the journals of `--once`',
    '`~/.local/state/media/journals/`',
    '`~/Library/Application Support/media/journals/`',
    '`%LOCALAPPDATA%\\media\\Data\\journals\\`',
  ],
];

/** The extensions of images and videos that the content must confirm. */
export function ambiguousMedia(
  extensions: readonly {extension: string; type: string; isAmbiguous: boolean}[],
): readonly Row[] {
  return ['image', 'video'].map(family => [
    `${family}s`,
    extensions
      .filter(({type, isAmbiguous}) => isAmbiguous && type.startsWith(family))
      .map(({extension}) => code(`.${extension}`))
      .sort()
      .join(' '),
  ]);
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
