import {mkdirSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {startService} from '../../../../dist/index.js';
import {leftBy, tell} from '../census.js';

// Pages, downloads, questions and refusals of the embedded service.
mkdirSync('tmp');
const service = await startService({dataDirectory: 'data'});
const key = await service.createKey();
const results = {};

/** Sends a request over a connection of its own, or over the agent's; resolves to its response, read to its end. */
function send(path, {method = 'GET', headers = {}, body = '', agent, cut = false} = {}) {
  return new Promise((resolve, reject) => {
    const given = {method, headers: {accept: 'text/html', ...headers}, agent: agent ?? new Agent()};
    const sent = request(service.url + path, given, response => {
      let text = '';
      response.on('data', chunk => {
        text += chunk;
      });
      response.on('end', () => {
        results[response.statusCode] = (results[response.statusCode] ?? 0) + 1;
        resolve({status: response.statusCode, headers: response.headers, text});
      });
    });
    sent.on('error', error => (cut ? resolve(undefined) : reject(error)));
    if (!cut) sent.end(body);
    else sent.write('x', () => setImmediate(() => sent.destroy()));
  });
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);
const authorization = {authorization: `Bearer ${key}`};
const upload = (given = {}) =>
  send('/v1/media/upload', {
    method: 'POST',
    body: png,
    ...given,
    headers: {...authorization, 'content-type': 'image/png', 'content-length': png.length, ...given.headers},
  });
const {id, urls} = JSON.parse((await upload()).text);
const {pathname} = new URL(urls[0].url);
const agent = new Agent({keepAlive: true, maxSockets: 1});
const signIn = await send(service.signInUrl().slice(service.url.length));
const cookie = signIn.headers['set-cookie'][0].split(';')[0];
const signedIn = {headers: {cookie}};

const each = 19;
const found = await leftBy(
  {directories: ['.']},
  async () => {
    for (const path of ['/', '/profile', `/media/${id}`, '/media/none', '/assets/page.css', '/nothing'])
      await send(path, signedIn);
    await send('/', {...signedIn, agent});
    await send('/');
    await send('/?token=wrong');
    await send('/', {...signedIn, method: 'HEAD'});
    await send(pathname);
    await send(pathname, {headers: {range: 'bytes=0-9'}});
    await send(pathname, {headers: {range: 'bytes=900-'}});
    await send('/healthz');
    await send('/graphql', {
      method: 'POST',
      headers: {...authorization, 'content-type': 'application/json'},
      body: '{"query":"{ __typename }"}',
    });
    await upload({headers: {authorization: 'Bearer wrong'}});
    await upload({headers: {'content-type': 'text/plain'}});
    await upload({cut: true});
    await send('/profile', {...signedIn, method: 'POST', body: 'x'});
  },
  {rounds: Math.ceil(Number(process.env.THINGS) / each), each, warmUp: 10},
);
agent.destroy();
await service.close();
tell({...found, results});
