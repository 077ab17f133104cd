import {isObject} from '../../src/lib/json.ts';
import type {PullRequest} from './pull-request.ts';

/** The API did not do what it was asked for. */
export class CommentError extends Error {
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;

  constructor(status?: number) {
    super(status === undefined ? 'no response' : `status ${status}`);
    this.status = status;
  }
}

interface Comment {
  id: number;
  /** The ID of the author. */
  author: unknown;
}

/** The largest page that the API gives. */
const pageSize = 100;
const patienceMs = 30_000;

/** The only comment on a pull request that begins with a marker. */
export class MarkedComment {
  readonly #url: string;
  readonly #comments: string;
  readonly #token: string;
  readonly #marker: string;

  constructor({apiUrl, repository, number}: PullRequest, token: string, marker: string) {
    this.#url = `${apiUrl}/repos/${repository}/issues`;
    this.#comments = `${this.#url}/${number}/comments`;
    this.#token = token;
    this.#marker = marker;
  }

  /** Updates the comment, or creates it; rejects with a CommentError. */
  async put(body: string): Promise<void> {
    const [existing, ...others] = await this.#find();
    if (existing !== undefined && (await this.#update(existing, body)))
      return this.#removeAll(others, existing);
    const created = await this.#create(body);
    // Another job may have created one at the same time. The oldest stays, for both.
    const all = await this.#find();
    const [oldest = created] = all;
    const keepsOwn = oldest.id >= created.id || !(await this.#update(oldest, body));
    await this.#removeAll(all, keepsOwn ? created : oldest);
  }

  /**
   * All comments with the marker, the oldest first. Those of strangers do not count: they may have copied it, and could
   * change the comment later.
   */
  async #find(): Promise<Comment[]> {
    const found: Comment[] = [];
    for (let page = 1; ; page += 1) {
      const response = await this.#request('GET', `${this.#comments}?per_page=${pageSize}&page=${page}`);
      const comments: unknown = await response.json().catch(() => undefined);
      if (!Array.isArray(comments)) throw new CommentError(response.status);
      for (const comment of comments)
        if (isObject(comment) && this.#isOurs(comment)) found.push(asComment(comment));
      if (comments.length < pageSize) return found.sort((a, b) => a.id - b.id);
    }
  }

  #isOurs({body, user, author_association: association}: Record<string, unknown>): boolean {
    const isMarked = typeof body === 'string' && body.startsWith(this.#marker);
    const isBot = isObject(user) && user['type'] === 'Bot';
    return isMarked && (isBot || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(String(association)));
  }

  async #create(body: string): Promise<Comment> {
    const response = await this.#request('POST', this.#comments, {body});
    const comment: unknown = await response.json().catch(() => undefined);
    if (!isObject(comment)) throw new CommentError(response.status);
    return asComment(comment);
  }

  /** Resolves to false if the comment has been deleted. */
  async #update({id}: Comment, body: string): Promise<boolean> {
    try {
      await this.#request('PATCH', `${this.#url}/comments/${id}`, {body});
      return true;
    } catch (error) {
      if (error instanceof CommentError && error.status === 404) return false;
      throw error;
    }
  }

  /** Removes the others of the same author. */
  async #removeAll(comments: readonly Comment[], kept: Comment): Promise<void> {
    for (const {id, author} of comments) {
      if (id === kept.id || author !== kept.author) continue;
      await this.#request('DELETE', `${this.#url}/comments/${id}`).catch(error => {
        if (!(error instanceof CommentError && error.status === 404)) throw error;
      });
    }
  }

  async #request(method: string, url: string, content?: object): Promise<Response> {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${this.#token}`,
        'user-agent': 'media',
        'x-github-api-version': '2022-11-28',
      },
      ...(content !== undefined && {body: JSON.stringify(content)}),
      signal: AbortSignal.timeout(patienceMs),
    }).catch(() => {
      // The error may contain the token.
      throw new CommentError();
    });
    if (!response.ok) throw new CommentError(response.status);
    return response;
  }
}

function asComment({id, user}: Record<string, unknown>): Comment {
  return {id: Number(id), author: isObject(user) ? user['id'] : undefined};
}
