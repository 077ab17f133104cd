import {appendFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {errorAnnotation} from '../../src/cli/output/ci.ts';
import {exitStatusOf, MediaError} from '../../src/errors.ts';
import {CheckSummary} from './check-summary.ts';
import {commentBody, commentMarker} from './comment-body.ts';
import {CommentError, MarkedComment} from './comments.ts';
import {releasedExecutable} from './executable.ts';
import {type ActionInputs, mediaEnv, mediaParameters, readInputs, readsResults} from './inputs.ts';
import {pullRequestOf} from './pull-request.ts';
import {runMedia} from './run-media.ts';
import {logLine, type UploadedFile, uploadedFile} from './uploaded-file.ts';

/**
 * Uploads or rewrites as the inputs of the action say, comments on the pull request if there is one, and resolves to the
 * exit status of `media`: a comment that cannot be written is a warning.
 */
export async function runAction(env: NodeJS.ProcessEnv): Promise<number> {
  try {
    return await run(env);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    process.stderr.write(`${errorAnnotation(error)}\n`);
    return exitStatusOf[error.code];
  }
}

async function run(env: NodeJS.ProcessEnv): Promise<number> {
  const inputs = readInputs(env);
  const executable = await releasedExecutable(inputs, env);
  // Later steps may call media, too.
  if (env['GITHUB_PATH']) await appendFile(env['GITHUB_PATH'], `${dirname(executable)}\n`);
  return inputs.rewrite === 'check' ? check(executable, inputs, env) : upload(executable, inputs, env);
}

async function check(executable: string, inputs: ActionInputs, env: NodeJS.ProcessEnv): Promise<number> {
  const summary = new CheckSummary();
  const {status} = await runMedia(executable, mediaParameters(inputs), mediaEnv(env), line =>
    summary.take(line),
  );
  // What could not be checked has no summary.
  const {GITHUB_STEP_SUMMARY: path} = env;
  if (path && (status === 0 || summary.count > 0)) await appendFile(path, `${summary.markdown()}\n`);
  return status;
}

async function upload(executable: string, inputs: ActionInputs, env: NodeJS.ProcessEnv): Promise<number> {
  const {token, commentName} = inputs;
  const hasManifest = inputs.manifest !== '';
  const files: UploadedFile[] = [];
  const shown = (line: string) => {
    const file = uploadedFile(line);
    if (file === undefined) return undefined;
    files.push(file);
    return logLine(file);
  };
  const parameters = mediaParameters(inputs);
  const take = readsResults(inputs) ? shown : undefined;
  const {status, wasStopped} = await runMedia(executable, parameters, mediaEnv(env), take);
  const pullRequest = token === '' || wasStopped ? undefined : await pullRequestOf(env);
  const isNews = files.some(file => !hasManifest || file.status !== 'skipped');
  if (pullRequest === undefined || inputs.check || !isNews) return status;
  const marker = commentMarker(commentName);
  const body = commentBody(files, {marker, runUrl: runUrlOf(env), hasFailures: status !== 0, hasManifest});
  try {
    await new MarkedComment(pullRequest, token, marker).put(body);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    process.stderr.write(`::warning title=media::${warning(error)}\n`);
  }
  return status;
}

function warning({status}: CommentError): string {
  if (status === undefined) return 'The comment was not written: the API of GitHub did not respond.';
  if (status !== 401 && status !== 403 && status !== 404)
    return `The comment was not written: the API of GitHub responded with status ${status}.`;
  return (
    `The comment was not written: GitHub refused the token (status ${status}). The job needs the permission ` +
    'pull-requests: write, which runs for pull requests from forks do not get.'
  );
}

function runUrlOf({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: repository,
  GITHUB_RUN_ID: run,
}: NodeJS.ProcessEnv): string | undefined {
  return server && repository && run ? `${server}/${repository}/actions/runs/${run}` : undefined;
}
