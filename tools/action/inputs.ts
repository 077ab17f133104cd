import {MediaError} from '../../src/errors.ts';

/** What a step gives the action. */
export interface ActionInputs {
  /** Files to upload, or documents to rewrite. */
  files: string[];
  /** Options of the command. */
  options: string[];
  rewrite: 'check' | 'write' | undefined;
  /** Empty for none. */
  manifest: string;
  /** Whether the manifest is only compared with the files. */
  check: boolean;
  /** Writes the comment; empty for none. */
  token: string;
  /** Distinguishes the comments of several uses of the action. */
  commentName: string;
  release: string;
  checksum: string;
}

/** Reads the inputs from the variables that the runner sets; throws a usage error. */
export function readInputs(env: NodeJS.ProcessEnv): ActionInputs {
  const text = (name: string) => env[`INPUT_${name}`]?.trim() ?? '';
  const [check, manifest] = [text('CHECK') || 'false', text('MANIFEST')];
  if (check !== 'true' && check !== 'false')
    throw new MediaError('usage', `The input check is "${check}".`, {hint: 'Set it to true or false.'});
  if (check === 'true' && (manifest === '' || text('REWRITE') !== ''))
    throw new MediaError('usage', 'The input check compares files with a manifest.', {
      hint: 'Set manifest, and not rewrite; for documents, set rewrite to check.',
    });
  return {
    manifest,
    check: check === 'true',
    files: linesOf(env['INPUT_FILES']),
    options: usableOptions(linesOf(env['INPUT_OPTIONS'])),
    rewrite: rewriteMode(text('REWRITE')),
    token: text('TOKEN'),
    commentName: text('COMMENT-NAME') || `${env['GITHUB_WORKFLOW'] ?? ''}/${env['GITHUB_JOB'] ?? ''}`,
    release: text('RELEASE'),
    checksum: text('CHECKSUM'),
  };
}

/** The environment of `media`: the service and the key from the inputs, and none of the other inputs. */
export function mediaEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('INPUT_'));
  const given = {MEDIA_BASE_URL: env['INPUT_BASE-URL'], MEDIA_API_KEY: env['INPUT_API-KEY']};
  return {
    ...Object.fromEntries(others),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
  };
}

function linesOf(text = ''): string[] {
  return text.split(/\r?\n/).filter(line => line !== '');
}

function rewriteMode(text: string): ActionInputs['rewrite'] {
  if (text === '') return undefined;
  if (text === 'check' || text === 'write') return text;
  throw new MediaError('usage', `The input rewrite is "${text}".`, {hint: 'Set it to check or write.'});
}

/** Options of `media` for what the action decides: the format, and where results go. */
const decided = ['--json', '--ndjson', '--format', '--template', '--ci', '--check', '--write', '--stdout'];

function usableOptions(options: string[]): string[] {
  for (const option of options) {
    const [, name = '', value] = /^(--?[a-zA-Z][\w-]*)(?:\s+(\S.*))?/.exec(option) ?? [];
    if (decided.includes(name))
      throw new MediaError('usage', `The input options has ${name}, which the action decides.`, {
        hint: 'Use the outputs id, url and records, or run media in a step of your own.',
      });
    if (value !== undefined)
      throw new MediaError('usage', `The input options has "${option}" on one line.`, {
        hint: `Write the value on the next line, below ${name}, or ${name}=${value}.`,
      });
  }
  return options;
}

/** One line of JSON per uploaded file, for a rewrite: its lines of NDJSON are about references. */
const template =
  '{{"file":{file|json},"status":{status|json},"size":{size|json},"url":{url|json},"thumbnailUrl":{record.thumbnailUrl|json}}}\\n';

/** Whether the action reads what `media` prints, and prints its own lines. */
export function readsResults({manifest, token}: ActionInputs): boolean {
  return manifest !== '' || token !== '';
}

/** The parameters of `media` for these inputs. */
export function mediaParameters(inputs: ActionInputs): string[] {
  const {files, options, rewrite, manifest, check} = inputs;
  const command = rewrite === undefined ? ['upload'] : ['rewrite', `--${rewrite}`];
  const memory = manifest === '' ? [] : ['--manifest', manifest];
  const results = rewrite === undefined ? ['--ndjson'] : ['--template', template];
  const output = rewrite === 'check' ? ['--ndjson'] : readsResults(inputs) ? results : [];
  return [
    ...command,
    '--ci',
    ...memory,
    ...(check ? ['--check'] : []),
    ...options,
    ...output,
    '--',
    ...files,
  ];
}
