import type {FormatName} from '../src/cli/output/results/formats.ts';
import {settingNames, settingTable} from '../src/cli/settings/setting-table.ts';
import {retryableRefusals} from '../src/engine/service/uploader.ts';
import {jobEngines} from '../src/engine/sources/find/shard.ts';
import {type ErrorCode, exitStatusOf} from '../src/errors.ts';
import type {EndSignal} from '../src/host.ts';
import type {CompletionData} from './command-tree.ts';
import type {Schema} from './schemas.ts';
import {allCommands} from './walk-tree.ts';

/** A row of a reference table in Markdown: its name, and what it means. */
export type Row = readonly [name: string, ...cells: string[]];

/** The exit statuses (cli-contract, "Exit status"). */
export const exitStatuses: readonly Row[] = [
  ['0', 'every input was uploaded, or skipped because it had already been uploaded'],
  [
    '1',
    'no input was uploaded: the service or a check refused it, or a file, TLS or redirect problem prevented it',
  ],
  ['2', 'usage: a bad option or value, or nothing matched'],
  ['3', 'some inputs were uploaded and some failed'],
  ['4', 'no key is set, or the service returned 401, 403 or 404'],
  ['5', 'the outcome of at least one upload is unknown: check before you run it again'],
  ['6', 'the service could not be reached'],
  ['7', 'an internal error: a bug in `media`'],
  ['130, 143, 129', 'ended by SIGINT, SIGTERM, SIGHUP'],
];

/** What each code means, and what to do then. */
const errorMeanings: Record<ErrorCode, readonly [meaning: string, hint: string]> = {
  usage: ['a bad option or value', 'follow the hint of the message, or read `media COMMAND --help`'],
  nothing_matched: [
    'a directory, pattern or list contained no input',
    'check the directory or the pattern; `--all` also takes files that are not images or videos',
  ],
  no_key: [
    'no API key or no base URL is set',
    'set `MEDIA_API_KEY` and `MEDIA_BASE_URL`, or run `media login`',
  ],
  key_unavailable: [
    'the keychain or `key-command` did not return the key',
    'unlock the keychain, fix `key-command`, or set `MEDIA_API_KEY`',
  ],
  unauthorized: [
    '401: the service does not accept the key',
    'set another key; `media whoami` says where this one comes from',
  ],
  forbidden: [
    '403: the key lacks permission, or the base URL is wrong',
    'check the permissions of the key and the base URL with `media doctor`',
  ],
  not_found: [
    '404: as for 403; some services return it instead',
    'check the base URL and the key with `media doctor`',
  ],
  host_not_found: ['no host has this name', 'check the base URL'],
  dns_unavailable: [
    'the name could not be looked up right now',
    'check the network, and run the command again',
  ],
  connection_refused: [
    'nothing is listening at this address',
    'check that the service runs at the base URL, and run the command again',
  ],
  connect_timeout: ['connecting took too long', 'check the network and the proxy, and run the command again'],
  connect_failed: [
    'any other failure to connect',
    'check the network with `media doctor`, and run the command again',
  ],
  outage: [
    'the service was unavailable for longer than `--retry-max-wait`, or until `--deadline`',
    'run the command again later, or wait longer with `--retry-max-wait`',
  ],
  tls_failed: [
    'the certificate was not accepted, the service requires a client certificate, or the TLS handshake failed',
    'check certificates with `media doctor`; `--cacert` trusts another authority',
  ],
  proxy_failed: [
    'the proxy refused, requires (other) credentials, or returned a page',
    'check the proxy variables and the credentials in them',
  ],
  not_http: [
    'the server does not speak HTTP/1.1, or not correctly',
    'check the scheme, the host and the port of the base URL',
  ],
  redirected: [
    'the service redirects to another URL; redirects are never followed',
    'set the base URL that the message names, if you trust it',
  ],
  rejected: [
    'any other refusal (400, 411, 413, 415, 422..., or 507 with an error record)',
    'do as the message says; to repeat the same request does not help',
  ],
  rate_limited: [
    `${[...retryableRefusals.keys()].join(', ')}, after all retries`,
    'run the command again later, or with a smaller `--concurrency`',
  ],
  service_unavailable: [
    '503 with an error record, or before the file was complete, after all retries',
    'run the command again later',
  ],
  service_failed: [
    '408 or another 5xx before the file was complete, after all retries',
    'run the command again later',
  ],
  premature_response: [
    'the service reported success before the file was complete',
    'check whether the service has the file, and report this to the service',
  ],
  connection_lost: [
    'the connection broke before the file was complete, after all retries',
    'run the command again',
  ],
  stalled: [
    'no progress before the file was complete, after all retries',
    'check the network, or wait longer with `--timeout`',
  ],
  deadline_exceeded: [
    '`--deadline` passed, or `--timeout` of `media graphql`',
    'run the command again with a longer time',
  ],
  unexpected_response: [
    'a response that is neither a record nor an error record',
    'check the base URL with `media doctor`',
  ],
  file_missing: ['no such file', 'check the path'],
  file_unreadable: [
    'the file could not be opened or read, or a document is not text, or its front matter is not valid',
    'check the permissions of the file and the disk, or what is in the document',
  ],
  too_many_open_files: [
    'the limit of open files was reached',
    'raise the limit with `ulimit -n`, or use a smaller `--concurrency`',
  ],
  not_a_file: ['a directory, FIFO, socket or device', 'name a regular file; directories need `-r`'],
  empty_file: ['the file is empty', 'check how the file is made'],
  not_media: [
    'neither the name nor the content is an image or a video, or the content is something else or too short',
    'leave the file out, or set `--content-type`',
  ],
  type_mismatch: ['`--types strict`: name and content disagree', 'rename the file, or use `--types content`'],
  geotags_unstrippable: [
    '`--geotags strip`: the file may hold a location that cannot be removed',
    'export the file without its location, or leave it out',
  ],
  source_changed: [
    'the file changed while it was being sent, or was replaced after it was checked; nothing was stored',
    'run the command again once the file is complete',
  ],
  clipboard_empty: ['the clipboard contains neither a picture nor files', 'copy a picture or files'],
  clipboard_unusable: [
    'the clipboard could not be read, or no program that reads it is installed',
    'install the program that the message names',
  ],
  outside_root: [
    '`media rewrite`: a document refers to a file outside the root directory',
    'set a higher `--root`, or move the file',
  ],
  local_reference: [
    '`media rewrite` with `--check`: a document refers to a local file',
    'run the command that the hint names',
  ],
  document_changed: [
    '`media rewrite`: a document changed in the meantime and was not overwritten',
    'run the command again',
  ],
  document_too_complex: [
    '`media rewrite`: a document is too large, nested too deeply, or its references took too long to find',
    'split the document',
  ],
  config_unusable: [
    'the settings file is damaged, unsafe or cannot be written',
    'fix the file as the message says',
  ],
  state_unwritable: [
    'the journal of `--once` or its directory cannot be created or written, or other users can change it',
    'do what the hint says, or use `--no-once`',
  ],
  output_failed: [
    'standard output could not be written',
    'free space where standard output goes, and run the command again with the same journal',
  ],
  local_failure: [
    'another problem on this machine: a full disk, a port in use, too little address space (`ulimit -v`)',
    'fix what the message names, and run the command again',
  ],
  record_mismatch: [
    '`--verify strict`: the file is stored, but its record differs from it',
    'look at the stored file; it is not sent again',
  ],
  no_url: [
    'the file is stored, but the service returned no URL to print or insert; its line in a list of URLs is empty',
    'look for it at the service by its media ID; it is not sent again',
  ],
  outcome_unknown: [
    'the whole file was sent and no clear response came',
    'check whether the service has the file, then `media journal resolve`; do not just run the command again',
  ],
  journal_in_use: [
    'another run uses the journal or has taken it over; the message names its process and machine',
    'wait for the other run to end',
  ],
  journal_of_other_service: [
    'the journal belongs to another service, store or account; each has only what was sent to it',
    'use another journal for this service',
  ],
  journal_unusable: [
    'not a journal, of another version or shard, damaged (the message gives the line), or other users can change it',
    'name the right journal; keep this file, or use a copy if other users can change it',
  ],
  journal_failed: [
    'the journal could not be read or written; nothing is sent that cannot be recorded',
    'free space or fix the disk, and run the command again with the same journal',
  ],
  journal_unproven: [
    '`media journal check` or `merge` found inputs that are not recorded exactly once',
    'upload missing inputs with the same journal, and settle unknown ones',
  ],
  journal_unverified: [
    'the service did not say whether it is still the one that the journal belongs to; nothing was skipped or sent',
    'run the command again later',
  ],
  manifest_outdated: [
    '`--check` found a file that the manifest does not know, or not as it is now',
    'run the command without `--check`, and commit the manifest',
  ],
  not_tried: ['the run had ended before this input was tried', 'run the command again'],
  interrupted: [
    'stopped by a signal, or cancelled at a prompt',
    'run the command again with the same journal',
  ],
  internal: ['a bug in `media`', 'report it with the command that caused it'],
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

/** The events of `media watch --ndjson`, with the fields of each. */
export function eventsOf(lines: readonly Schema[]): readonly Row[] {
  return lines.map(({description = '', properties: {event, ...fields} = {}}) => [
    code(String(event?.const)),
    description,
    fieldsOf({properties: fields})
      .map(([name, meaning]) => `${name}: ${meaning}`)
      .join('; '),
  ]);
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
  ['`MEDIA_CONFIG_DIR`', 'the directory of the settings file'],
  ['`MEDIA_CLIENT_CERT`, `MEDIA_CLIENT_KEY`', 'your certificate and its private key, as PEM files'],
  ['`MEDIA_CLIENT_KEY_PASSPHRASE`', 'the passphrase of the private key'],
  ['`MEDIA_SHARD_COUNT`', 'the number of parts, for `--shard auto`'],
  ['`MEDIA_SERVE_HOST`, `MEDIA_SERVE_PORT`', 'where `media serve` listens'],
  [
    '`MEDIA_SERVE_KEY`, `MEDIA_SERVE_KEY_FILE`',
    'the key that `media serve` accepts, or a file that holds it',
  ],
  ['`MEDIA_SERVE_PUBLIC_URL`, `MEDIA_SERVE_SEED`, `MEDIA_SERVE_DATA_DIR`', 'options of `media serve`'],
  [
    '`MEDIA_SERVE_ALLOW_HOST`, `MEDIA_SERVE_ALLOW_ORIGIN`, `MEDIA_SERVE_FAULT`',
    'options of `media serve`; several values are separated by spaces',
  ],
  ['`MEDIA_SHARP`', 'the absolute path of sharp, for the thumbnails of `media serve`'],
  [
    '`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`',
    'the proxy, and the hosts to reach without it; lower case wins',
  ],
  ['`NODE_EXTRA_CA_CERTS`', 'a PEM file of further certificate authorities to trust'],
  ['`NO_COLOR`, `FORCE_COLOR`', 'never or always print in colour'],
  ['`CI`', 'if set, nothing is animated'],
  ['`TERM`', '`dumb`: neither animation nor colour'],
  ['`LC_ALL`, `LC_CTYPE`, `LANG`', 'the locale: without UTF-8, boxes are ASCII'],
  ['`NODE_DISABLE_COMPILE_CACHE`', '`1`: neither load nor store compiled code'],
  [
    '`XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME`',
    'on Linux, the parents of the settings, the data and the journals',
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

const endSignals: Record<EndSignal, {status: number; windows: string}> = {
  SIGINT: {status: 130, windows: 'Ctrl-C'},
  SIGTERM: {status: 143, windows: 'not available'},
  SIGHUP: {status: 129, windows: 'closing the window'},
};

/** The effect of each signal, and its equivalent on Windows. */
export const signals: readonly Row[] = [
  ...Object.entries(endSignals).map(
    ([name, {status, windows}]): Row => [name, `ends the run, exit status ${status}`, windows],
  ),
  ['SIGUSR2', 'prints the progress', 'not available'],
];

/** The batch systems that `--shard auto` supports, and the variables that it reads. */
export const batchSystems: readonly Row[] = [
  [
    'Slurm arrays',
    ['ID', 'MIN', 'MAX', 'COUNT', 'STEP'].map(part => code(`SLURM_ARRAY_TASK_${part}`)).join(', '),
  ],
  ...jobEngines.map(
    ({name, index, total}): Row => [
      name,
      `${code(index)}, ${total === undefined ? `and ${code('MEDIA_SHARD_COUNT')} from you` : code(total)}`,
    ],
  ),
];

/** The extensions of images and videos: those that are trusted, and those that the content must confirm. */
export function mediaExtensions(
  extensions: readonly {extension: string; type: string; isAmbiguous: boolean}[],
): readonly Row[] {
  const row = (name: string, family: string, ambiguous: boolean): Row => [
    name,
    extensions
      .filter(({type, isAmbiguous}) => type.startsWith(family) && isAmbiguous === ambiguous)
      .map(({extension}) => code(`.${extension}`))
      .sort()
      .join(' '),
  ];
  return [
    row('images', 'image/', false),
    row('videos', 'video/', false),
    row('images, if the content confirms it', 'image/', true),
    row('videos, if the content confirms it', 'video/', true),
  ];
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
