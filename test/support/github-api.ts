import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {text} from 'node:stream/consumers';
import {listen, urlOf} from './loopback.ts';

/** A comment as the API of GitHub represents it, as far as the action reads it. */
export interface ApiComment {
  id: number;
  body: string;
  user: {id: number; type: 'Bot' | 'User'};
  author_association: string;
}

/** The account behind the token of a job, and a user who may not write to the repository. */
export const bot = {user: {id: 41_898_282, type: 'Bot'}, author_association: 'CONTRIBUTOR'} as const;
export const stranger = {user: {id: 7, type: 'User'}, author_association: 'NONE'} as const;

export const apiToken = 'ghs_0123456789';

/** What happens right before a request is answered; a status is the answer. */
type Intervention = (request: string, comments: ApiComment[]) => number | undefined | Promise<undefined>;

/** The API of GitHub for the comments of pull request 7 of octocat/media: listed in pages, created, updated, deleted. */
export async function githubApi(intervene: Intervention = () => undefined) {
  const comments: ApiComment[] = [];
  const requests: string[] = [];
  let lastId = 1000;
  const add = (author: Omit<ApiComment, 'id' | 'body'>, body: string) => {
    lastId += 1;
    const comment = {...author, id: lastId, body};
    comments.push(comment);
    return comment;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const content = await text(request);
    const send = (status: number, value?: unknown) => {
      response.writeHead(status, {'content-type': 'application/json'});
      response.end(value === undefined ? '' : JSON.stringify(value));
    };
    requests.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== `Bearer ${apiToken}`)
      return send(401, {message: 'Bad credentials'});
    const refusal = await intervene(`${request.method} ${request.url}`, comments);
    if (refusal !== undefined) return send(refusal, {message: 'Resource not accessible by integration'});
    const body = content === '' ? '' : (JSON.parse(content) as {body: string}).body;
    if (body.length > 65_536) return send(422, {message: 'body is too long (maximum is 65536 characters)'});
    if (url.pathname === '/repos/octocat/media/issues/7/comments') {
      if (request.method === 'POST') return send(201, add(bot, body));
      const size = Math.min(100, Number(url.searchParams.get('per_page') ?? 30));
      const first = (Number(url.searchParams.get('page') ?? 1) - 1) * size;
      return send(200, comments.slice(first, first + size));
    }
    const id = Number(/^\/repos\/octocat\/media\/issues\/comments\/(\d+)$/.exec(url.pathname)?.[1]);
    const found = comments.find(comment => comment.id === id);
    if (found === undefined) return send(404, {message: 'Not Found'});
    if (request.method === 'PATCH') return send(200, Object.assign(found, {body}));
    comments.splice(comments.indexOf(found), 1);
    return send(204);
  };
  const server = createServer((request, response) => void answer(request, response));
  await listen(server);
  const pullRequest = {apiUrl: urlOf(server), repository: 'octocat/media', number: 7};
  return {comments, requests, add, pullRequest};
}
