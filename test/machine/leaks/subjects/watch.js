import {mkdirSync, readdirSync, watch, writeFileSync} from 'node:fs';
import {begin, compared, leftBy, tell} from '../census.js';
import {media, systemHost} from '../program.js';

// One `media watch`, for which many files come, each in a batch of its own: the journal is closed in between.
const {SERVICE, THINGS, PATIENCE} = process.env;
Object.assign(process.env, {
  MEDIA_BASE_URL: SERVICE,
  MEDIA_API_KEY: 'key-of-the-test',
  XDG_STATE_HOME: `${process.cwd()}/state`,
});
for (const directory of ['tmp', 'photos', 'done', 'state']) mkdirSync(directory);

const {clock} = systemHost();
let end;
const changes = {
  // A batch ends after 2 s without a file, and a file is moved 10 s after its record came.
  clock: {
    ...clock,
    after: (ms, action) => clock.after(ms === 2_000 ? 10 : ms, action),
    sleep: (ms, signal) => clock.sleep(Math.min(ms, 10), signal),
  },
  onEndSignal(listener) {
    end = () => listener('SIGTERM');
    return () => {};
  },
};

const watched = {directories: ['tmp', 'state', 'photos']};
// Node keeps the descriptor that watches files once it has one.
watch('tmp').close();
const begun = await begin(watched);
let stdout = '';
const running = media(
  ['watch', '--ndjson', '--settle', '20ms', '--move-to', 'done', 'photos'],
  changes,
  text => {
    stdout += text;
  },
);

async function until(condition) {
  for (const stop = performance.now() + Number(PATIENCE); performance.now() < stop; ) {
    if (condition()) return;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  throw new Error(`never came true: ${condition}\n${stdout}`);
}

const locks = () => readdirSync('state', {recursive: true}).filter(name => name.endsWith('.lock'));
let batches = 0;
const found = await leftBy(
  watched,
  async number => {
    stdout = '';
    writeFileSync(`photos/${number}.png`, `\x89PNG\r\n\x1a\n${number}`.padEnd(57), 'latin1');
    await until(() => stdout.includes('"uploaded"'));
    await until(() => locks().length === 0);
    batches += 1;
  },
  {rounds: Number(THINGS)},
);
end();
const {status} = await running;
// The journal stays.
const {more} = await compared(begun, {directories: ['tmp', 'photos']}, Number(THINGS));
tell({...found, more: {...found.more, ...more}, results: {batches, [`status ${status}`]: 1}});
