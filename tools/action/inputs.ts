import {MediaError} from '../../src/errors.ts';

/** What a step gives the action. */
export interface ActionInputs {
  /** Files to upload, or documents to rewrite. */
  files: string[];
  /** Options of the command. */
  options: string[];
  rewrite: 'check' | 'write' | undefined;
  /** Writes the comment; empty for none. */
  token: string;
  /** Distinguishes the comments of several uses of the action. */
  commentName: string;
}

/** Reads the inputs from the variables that action.yml sets; throws a usage error. */
export function readInputs(env: NodeJS.ProcessEnv): ActionInputs {
  const text = (name: string) => env[`INPUT_${name}`]?.trim() ?? '';
  return {
    files: linesOf(env['INPUT_FILES']),
    options: linesOf(env['INPUT_OPTIONS']),
    rewrite: rewriteMode(text('REWRITE')),
    token: text('TOKEN'),
    commentName: text('COMMENT_NAME') || `${env['GITHUB_WORKFLOW'] ?? ''}/${env['GITHUB_JOB'] ?? ''}`,
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

/** One line of JSON per uploaded file. */
const template =
  '{{"file":{file|json},"status":{status|json},"size":{size|json},"url":{url|json},"thumbnailUrl":{record.thumbnailUrl|json}}}\\n';

/** The parameters of `media` for these inputs. */
export function mediaParameters({files, options, rewrite, token}: ActionInputs): string[] {
  const command = rewrite === undefined ? ['upload'] : ['rewrite', `--${rewrite}`];
  // The last template is the one that counts.
  const output = token === '' || rewrite === 'check' ? [] : ['--template', template];
  return [...command, '--ci', 'github', ...options, ...output, '--', ...files];
}
