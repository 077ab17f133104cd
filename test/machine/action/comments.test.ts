import {describe, expect, it} from 'vitest';
import {CommentError, MarkedComment} from '../../../tools/action/comments.ts';
import {deadUrl} from '../../engine/service/support.ts';
import {apiToken, bot, githubApi, stranger} from '../../support/github-api.ts';

const marker = '<!-- media 1 -->';
const body = (text: string) => `${marker}\n${text}`;

describe('the comment on a pull request', () => {
  it('none yet: created; then updated, and never a second one', async () => {
    const {comments, pullRequest} = await githubApi();
    for (const text of ['first', 'second', 'third']) {
      await new MarkedComment(pullRequest, apiToken, marker).put(body(text));
      expect(comments.map(comment => comment.body)).toEqual([body(text)]);
    }
  });

  it('on the third page, among those of others: found there', async () => {
    const {comments, requests, add, pullRequest} = await githubApi();
    for (let count = 0; count < 230; count += 1) add(stranger, `comment ${count}`);
    const {id} = add(bot, body('old'));
    add(stranger, 'thanks');
    await new MarkedComment(pullRequest, apiToken, marker).put(body('new'));
    expect(comments.filter(comment => comment.body === body('new')).map(comment => comment.id)).toEqual([id]);
    expect(requests.map(request => request.replace(/^(\w+) .*?(comments.*)$/, '$1 $2'))).toEqual([
      'GET comments?per_page=100&page=1',
      'GET comments?per_page=100&page=2',
      'GET comments?per_page=100&page=3',
      `PATCH comments/${id}`,
    ]);
  });

  it.each([
    ['of a stranger who copied the marker', stranger, body('mine')],
    ['with another marker', bot, '<!-- media 2 -->\ntext'],
    ['with the marker further down', bot, `> quoted\n${marker}`],
  ])('one %s: left alone', async (_, author, text) => {
    const {comments, add, pullRequest} = await githubApi();
    add(author, text);
    await new MarkedComment(pullRequest, apiToken, marker).put(body('new'));
    expect(comments.map(comment => comment.body)).toEqual([text, body('new')]);
  });

  it('deleted between the list and the update: created again', async () => {
    const {comments, add, pullRequest} = await githubApi((request, all) => {
      if (request.startsWith('PATCH')) all.length = 0;
      return undefined;
    });
    add(bot, body('old'));
    await new MarkedComment(pullRequest, apiToken, marker).put(body('new'));
    expect(comments.map(comment => comment.body)).toEqual([body('new')]);
  });

  it('5 jobs at once, none of which sees a comment: one is left, with the text of one of them', async () => {
    let lists = 0;
    let allListed = () => {};
    const listed = new Promise<undefined>(resolve => {
      allListed = () => resolve(undefined);
    });
    const {comments, pullRequest} = await githubApi(request => {
      if (!request.startsWith('GET')) return undefined;
      lists += 1;
      if (lists === 5) allListed();
      return listed;
    });
    const texts = ['a', 'b', 'c', 'd', 'e'].map(body);
    await Promise.all(texts.map(text => new MarkedComment(pullRequest, apiToken, marker).put(text)));
    expect(comments).toHaveLength(1);
    expect(texts).toContain(comments[0]?.body);
  });

  it('two left by an earlier race: the older is updated, the other one removed', async () => {
    const {comments, add, pullRequest} = await githubApi();
    const {id} = add(bot, body('old'));
    add(bot, body('double'));
    await new MarkedComment(pullRequest, apiToken, marker).put(body('new'));
    expect(comments.map(comment => [comment.id, comment.body])).toEqual([[id, body('new')]]);
  });

  it.each([
    ['a token that may only read', 403, (request: string) => (request.startsWith('POST') ? 403 : undefined)],
    ['a repository that the token does not see', 404, () => 404],
    ['a failure of the API', 502, () => 502],
  ])('%s: a CommentError with status %i', async (_, status, intervene) => {
    const {comments, pullRequest} = await githubApi(intervene);
    const comment = new MarkedComment(pullRequest, apiToken, marker);
    await expect(comment.put(body('new'))).rejects.toEqual(new CommentError(status));
    expect(comments).toEqual([]);
  });

  it.each(['ghs_expired', 'two\nlines', 'ключ'])(
    'the token %j: an error that does not contain it',
    async token => {
      const {pullRequest} = await githubApi();
      const error: unknown = await new MarkedComment(pullRequest, token, marker)
        .put(body('new'))
        .catch(reason => reason);
      expect(error).toBeInstanceOf(CommentError);
      expect(error).toMatchObject({message: token === 'ghs_expired' ? 'status 401' : 'no response'});
    },
  );

  it('nobody listens: a CommentError without a status', async () => {
    const pullRequest = {apiUrl: await deadUrl(), repository: 'octocat/media', number: 7};
    await expect(new MarkedComment(pullRequest, apiToken, marker).put(body('new'))).rejects.toEqual(
      new CommentError(),
    );
  });
});
