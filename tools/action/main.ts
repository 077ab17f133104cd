import {exitStatusOf, MediaError} from '../../src/errors.ts';
import {errorAnnotation} from '../../src/output/ci.ts';
import {commentBody, commentMarker} from './comment-body.ts';
import {CommentError, MarkedComment} from './comments.ts';
import {mediaParameters, readInputs} from './inputs.ts';
import {pullRequestOf} from './pull-request.ts';
import {runMedia} from './run-media.ts';
import {type UploadedFile, uploadedFile} from './uploaded-file.ts';

/**
 * Uploads or rewrites as the inputs of the action say, comments on the pull request if there is one, and resolves to the
 * exit status of `media`: a comment that cannot be written is a warning.
 */
export async function runAction(env: NodeJS.ProcessEnv, program: URL): Promise<number> {
  try {
    return await run(env, program);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    process.stderr.write(`${errorAnnotation(error)}\n`);
    return exitStatusOf[error.code];
  }
}

async function run(env: NodeJS.ProcessEnv, program: URL): Promise<number> {
  const inputs = readInputs(env);
  const {token, commentName} = inputs;
  const files: UploadedFile[] = [];
  const take = (line: string) => {
    const file = uploadedFile(line);
    if (file !== undefined) files.push(file);
  };
  // Programs that media starts have no use for the token.
  const {INPUT_TOKEN: _, ...childEnv} = env;
  const parameters = mediaParameters(inputs);
  const {status, wasStopped} = await runMedia(program, parameters, childEnv, token === '' ? undefined : take);
  const pullRequest = token === '' || wasStopped ? undefined : await pullRequestOf(env);
  if (pullRequest === undefined || files.length === 0) return status;
  const marker = commentMarker(commentName);
  const body = commentBody(files, {marker, runUrl: runUrlOf(env), hasFailures: status !== 0});
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
