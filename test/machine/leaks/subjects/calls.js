import {mkdirSync, writeFileSync} from 'node:fs';
import {filesOf, MediaClient, sourceOf, uploadAll} from '../../../../dist/index.js';
import {leftBy, tell} from '../census.js';

// Calls of the library of every kind, ended in every way, in one process with one AbortSignal.
const {SERVICE: baseUrl} = process.env;
const options = {baseUrl, apiKey: 'key-of-the-test'};
const caller = new AbortController();
const {signal} = caller;

mkdirSync('photos/more', {recursive: true});
mkdirSync('tmp');
for (const name of ['a.png', 'b.png', 'c.png', 'more/d.png', 'more/notes.txt'])
  writeFileSync(`photos/${name}`, `\x89PNG\r\n\x1a\n${name}`.padEnd(57), 'latin1');
writeFileSync('empty.png', '');

/** As long as the smallest picture. */
const noText = Buffer.alloc(57);

const kinds = {
  files: client => ended(['photos/a.png', 'photos/b.png'], {client, concurrency: 1}),
  directory: client => ended(filesOf(['photos'], {recursive: true}), {client}),
  bytes: client => ended([sourceOf('x.png', noText)], {client, verify: 'warn'}),
  broken: client => ended(['missing.png', 'empty.png', 'photos', 'photos/a.png'], {client}),
  refused: client => ended([sourceOf('x.gif', noText)], {client}),
  reset: client => ended([sourceOf('x.webp', noText)], {client, retries: 0}),
  journal: client => ended(['photos/a.png', 'photos/b.png'], {client, journal: 'a.journal'}),
  again: client => ended(['photos/a.png', 'photos/b.png'], {client, journal: 'a.journal', dryRun: true}),
  dry: client => ended(['photos/a.png', 'photos/a.png', 'empty.png'], {client, dryRun: true}),
  aborted: client => stopped(client, (_iteration, own) => own.abort('enough')),
  left: client => stopped(client, iteration => iteration.return()),
  abortedAtOnce: async client => {
    const own = new AbortController();
    const iteration = uploadAll(['photos/a.png'], {client, journal: 'd.journal', signal: own.signal});
    const first = iteration.next();
    own.abort('enough');
    await first.catch(() => iteration.next());
  },
  leftUnstarted: async client => {
    await uploadAll(['photos/a.png'], {client, signal}).return();
  },
  abortedBefore: client => ended(['photos/a.png'], {client, signal: AbortSignal.abort('enough')}),
  failingInputs: client => ended(failing(), {client, journal: 'b.journal'}),
  leftDirectory: async () => {
    for await (const _ of filesOf(['photos'], {recursive: true})) break;
  },
  usage: async client => ended(['photos/a.png'], {client, retries: -1}),
  graphql: async client => {
    const own = new AbortController();
    await client.graphql({query: '{ viewer { id } }'}, signal);
    const pending = client.graphql({query: 'never'}, own.signal).catch(() => {});
    own.abort('enough');
    await pending;
  },
  probe: client => client.probeAvailability(signal),
};

function* failing() {
  yield 'photos/a.png';
  throw new Error('These inputs end early.');
}

/** How many results there were of each status, and how many calls rejected. */
const results = {};

function count(name) {
  results[name] = (results[name] ?? 0) + 1;
}

async function ended(inputs, given) {
  try {
    for await (const {status, error} of uploadAll(inputs, {signal, ...given})) count(error?.code ?? status);
  } catch (error) {
    count(`rejected: ${error.code ?? error.message ?? error}`);
  }
}

/** A call that is stopped while a file of a few megabytes is on its way. */
async function stopped(client, how) {
  const own = new AbortController();
  const large = sourceOf('large.png', Buffer.alloc(4 * 2 ** 20));
  const inputs = ['photos/a.png', large, large];
  const given = {client, concurrency: 2, limitRate: 2 ** 21, journal: 'c.journal', signal: own.signal};
  const iteration = uploadAll(inputs, given);
  try {
    for await (const _ of iteration) await how(iteration, own);
    count('left');
  } catch (error) {
    count(`rejected: ${error}`);
  }
}

const shared = new MediaClient(options);
const names = Object.keys(kinds);
const found = await leftBy(
  {directories: ['.'], signals: [signal]},
  async () => {
    for (const name of names) {
      const client = name.length % 2 === 0 ? shared : new MediaClient(options);
      await kinds[name](client);
      if (client !== shared) await client.close();
    }
  },
  {rounds: Math.ceil(Number(process.env.THINGS) / names.length), each: names.length, warmUp: 2},
);
await shared.close();
tell({...found, results});
