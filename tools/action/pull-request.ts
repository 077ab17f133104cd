import {readFile} from 'node:fs/promises';
import {isObject, parseObject} from '../../src/lib/json.ts';

/** A pull request, and where the API that knows it is. */
export interface PullRequest {
  apiUrl: string;
  /** Such as `octocat/hello-world`. */
  repository: string;
  number: number;
}

/** The pull request that this run is about; undefined if there is none. */
export async function pullRequestOf(env: NodeJS.ProcessEnv): Promise<PullRequest | undefined> {
  const {GITHUB_API_URL: apiUrl, GITHUB_REPOSITORY: repository, GITHUB_EVENT_PATH: path} = env;
  if (!apiUrl || !repository || !path) return undefined;
  const event = parseObject(await readFile(path, 'utf8').catch(() => ''));
  const number = event === undefined ? undefined : numberIn(event);
  return number === undefined ? undefined : {apiUrl, repository, number};
}

function numberIn({pull_request: pull, issue}: Record<string, unknown>): number | undefined {
  // The event of a comment on a pull request calls it an issue.
  const subject = isObject(pull) ? pull : isObject(issue) && isObject(issue['pull_request']) ? issue : {};
  return Number.isSafeInteger(subject['number']) ? Number(subject['number']) : undefined;
}
