import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {bareLoop, environment, upload, withSink} from '../commands.js';
import {filmOf} from '../files.js';
import {inRounds, timed} from '../measure.js';
import {within} from '../within.js';

const gibibyte = 2 ** 30;
/** curl holds a body of --data-binary in memory, and no more than this. */
const largest = 1000 * 2 ** 20;

export async function largeFile(directory, sink) {
  const film = filmOf(join(directory, '1000MiB.mp4'), largest);
  const address = `${sink.url}/v1/media/upload`;
  const {ours, streamed, whole, loop} = await inRounds(7, () => ({
    ours: timed(upload(film, '--json'), {env: environment(sink.url, directory)}),
    streamed: timed(['curl', '-sS', '-X', 'POST', '-T', film, address]),
    whole: timed(['curl', '-sS', '--data-binary', `@${film}`, address]),
    loop: timed(bareLoop('undici-loop.js', sink.url, film)),
  }));
  const speeds = times => times.map(({wall}) => 1000 / (wall / 1000));
  const user = times => times.map(time => time.user);
  return [
    {
      what: 'upload of 1,000 MiB',
      unit: 'MiB/s',
      ours: speeds(ours),
      against: 'curl -T',
      peer: speeds(streamed),
      atLeast: 0.8,
    },
    {
      what: 'upload of 1,000 MiB',
      unit: 'MiB/s',
      ours: speeds(ours),
      against: 'curl --data-binary',
      peer: speeds(whole),
      atLeast: 1.4,
    },
    {
      what: 'user CPU of 1,000 MiB',
      unit: 'ms',
      ours: user(ours),
      against: 'bare undici loop',
      peer: user(loop),
      atMost: 1.5,
    },
  ];
}

export async function memory(directory, sink) {
  const small = filmOf(join(directory, '1GiB.mp4'), gibibyte);
  const large = filmOf(join(directory, '8GiB.mp4'), 8 * gibibyte, {sparse: true});
  const peak = film => timed(upload(film, '--json'), {env: environment(sink.url, directory)}).peak;
  const {ours, peer} = await inRounds(3, () => ({ours: peak(large), peer: peak(small)}));
  return [
    {what: 'peak memory of 8 GiB', unit: 'MiB', ours, against: 'of 1 GiB', peer, atMost: 1.1},
    within('peak memory of 8 GiB', 'MiB', ours, 110),
  ];
}

export async function overTls(directory) {
  const {certificate, key} = newCertificate(directory);
  const measure = withSink((place, sink) => tlsRows(place, sink, certificate), '--tls', certificate, key);
  return measure(directory);
}

async function tlsRows(directory, sink, certificate) {
  const film = filmOf(join(directory, '1GiB.mp4'), gibibyte);
  const address = `${sink.url}/v1/media/upload`;
  const journal = join(directory, 'tls.journal');
  const env = environment(sink.url, directory);
  const curl = ['curl', '-sS', '--cacert', certificate, '-X', 'POST', '-T', film, address];
  const {ours, peer, journalled, hashed} = await inRounds(5, () => {
    rmSync(journal, {force: true});
    const send = (...parameters) =>
      timed(upload(film, '--json', '--cacert', certificate, ...parameters), {env}).wall;
    const beside = `sha256sum '${film}' & ${curl.map(word => `'${word}'`).join(' ')}; wait`;
    return {
      ours: send(),
      peer: timed(curl).wall,
      journalled: send('--journal', journal),
      hashed: timed(['sh', '-c', beside]).wall,
    };
  });
  const speeds = times => times.map(time => 1024 / (time / 1000));
  const row = (what, ours, against, peer) => ({
    what,
    unit: 'MiB/s',
    ours: speeds(ours),
    against,
    peer: speeds(peer),
    atLeast: 0.8,
  });
  return [
    row('1 GiB over TLS', ours, 'curl -T', peer),
    row('1 GiB over TLS, --journal', journalled, 'curl -T with sha256sum beside it', hashed),
  ];
}

function newCertificate(directory) {
  const [certificate, key] = ['certificate.pem', 'key.pem'].map(name => join(directory, name));
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    certificate,
  ];
  if (spawnSync('openssl', [...made, ...subject]).status !== 0)
    throw new Error('openssl made no certificate');
  return {certificate, key};
}
