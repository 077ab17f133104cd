import {createServer, type Server, type Socket} from 'node:net';
import {expect, inject, test} from 'vitest';
import type {ServiceClient} from '../../../../src/engine/service/client.ts';
import type {UploadResponse} from '../../../../src/engine/service/uploader.ts';
import type {Outcome} from '../../../../src/engine/transfer/outcome.ts';
import {nextTurn} from '../../../../src/host.ts';
import {answers, type End, responseOf} from '../../../simulation/network.ts';
import {listen, urlOf} from '../../../support/loopback.ts';
import {clientOf, memorySource, uploadEach} from '../support.ts';

const ends: readonly End[] = ['reset', 'close', 'half-close'];

/** Which bytes are tried: in `npm test` half for the usual end of a connection, and a fifth for the others. */
function stepOf(how: End): number {
  if (inject('isTorture')) return 1;
  return how === 'close' ? 2 : 5;
}

function endConnection(socket: Socket, how: End): void {
  if (how === 'reset') socket.resetAndDestroy();
  else if (how === 'close') socket.destroySoon();
  else socket.end();
}

/** What a server does with its next request; the others are answered with their records. */
interface Script {
  /** It ends the connection when so many bytes of the request have come. */
  requestEnd?: {at: number; how: End};
  /** What it answers, if not a record, and how the connection ends after that. */
  answer?: {text: string; how?: End};
}

/** A server that stores what comes whole, and does what its script says. */
class Service {
  script: Script = {};
  readonly stored: string[] = [];
  /** The number of bytes of the last request that came whole. */
  requestBytes = 0;
  readonly server: Server;
  #last: Socket | undefined;

  constructor() {
    this.server = createServer({allowHalfOpen: true}, socket => this.#serve(socket));
  }

  /** Sends bytes that nobody has asked for; resolves when the client has had time to read them. */
  async sendUnasked(text: string): Promise<void> {
    await new Promise<unknown>(resolve => this.#last?.write(text, resolve));
    await nextTurn();
    await nextTurn();
  }

  #serve(socket: Socket): void {
    let received = '';
    let script: Script = {};
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => {
      if (received === '') {
        script = this.script;
        this.script = {};
      }
      received += bytes.toString('latin1');
      const {at = Number.POSITIVE_INFINITY, how = 'reset'} = script.requestEnd ?? {};
      if (received.length >= at && !socket.writableEnded) {
        endConnection(socket, how);
        if (how !== 'half-close') return;
      }
      const length = wholeLength(received);
      if (received.length < length) return;
      received = received.slice(length);
      this.requestBytes = length;
      this.stored.push(`med_${this.stored.length}`);
      if (socket.writableEnded) return;
      const {text = record(this.stored.at(-1) ?? ''), how: end} = script.answer ?? {};
      socket.write(text, 'latin1', () => end && endConnection(socket, end));
    });
    this.#last = socket;
  }
}

function record(id: string): string {
  return answers['a record'].text(id, 4);
}

/** The length of the first request in these bytes; infinite as long as that is not known. */
function wholeLength(received: string): number {
  const head = received.indexOf('\r\n\r\n') + 4;
  if (head < 4) return Number.POSITIVE_INFINITY;
  return head + Number(/^content-length: (\d+)/im.exec(received.slice(0, head))?.[1] ?? 0);
}

async function serviceAndClient(): Promise<{service: Service; client: ServiceClient}> {
  const service = new Service();
  await listen(service.server);
  return {service, client: clientOf(urlOf(service.server))};
}

async function upload(
  client: ServiceClient,
  content = Buffer.from('file'),
): Promise<UploadResponse | 'broken'> {
  const body = {length: content.length, content};
  const key = '9e9e4f6e-6f1f-4b7a-8d5d-5a5a5a5a5a5a';
  return client
    .upload({contentType: 'image/png', idempotencyKey: key, body, signal: new AbortController().signal})
    .catch(() => 'broken');
}

/** What matters of an answer. */
function facts(answer: UploadResponse | string) {
  if (typeof answer === 'string') return 'broken';
  if (answer.kind === 'stored') return answer.received.json;
  const {kind, status} = answer;
  return kind === 'unreadable'
    ? `${status}, ${answer.problem}`
    : `${status} ${answer.serviceCode} ${answer.message}`;
}

test.each(ends)(
  'each known response, cut at each byte by a %s: what the bytes that came say, and no more',
  async how => {
    const {service, client} = await serviceAndClient();
    const broken: string[] = [];
    let states = 0;
    for (const [name, {text}] of Object.entries(answers)) {
      const whole = text('med_7', 4);
      for (let at = 0; at <= whole.length; at += stepOf(how)) {
        service.script = {answer: {text: whole.slice(0, at), how}};
        const told = facts(await upload(client));
        states += 1;
        const expected = facts(responseOf(whole.slice(0, at), true));
        // A reset may overtake what was sent before it.
        const isOvertaken = how === 'reset' && told === 'broken';
        if (told !== expected && !isOvertaken) broken.push(`${name} at ${at}: ${told}, not ${expected}`);
      }
    }
    expect(broken).toEqual([]);
    expect(states).toBeGreaterThan(1_000 / stepOf(how));
  },
);

const png = Buffer.from('\x89PNG\r\n\x1a\nfile'.padEnd(57), 'latin1');
/** Sent in two chunks, of which the second is held back until the first has had time to be refused. */
const long = Buffer.concat([png, Buffer.alloc(65_536)]);

/** What is wrong with an upload whose first request ended at some byte, and was tried again if that was safe. */
function complaint(outcome: Outcome | undefined, stored: readonly string[]): string | undefined {
  if (stored.length > 1) return 'stored twice';
  if (outcome?.status === 'unknown') return undefined;
  if (outcome?.status !== 'uploaded') return `${outcome?.status}, after a retry that meets no trouble`;
  return outcome.record.id === stored[0] ? undefined : 'uploaded, and not stored';
}

test.each(ends)('a request that ends at each byte by a %s: stored once, or unknown', async how => {
  const {service, client} = await serviceAndClient();
  const broken: string[] = [];
  let unknown = 0;
  const tried = async (content: Buffer, at: number) => {
    service.script = {requestEnd: {at, how}};
    service.stored.length = 0;
    const retries = {random: () => 0, retries: 2};
    const [outcome] = await uploadEach([memorySource('a.png', content)], client, retries);
    if (outcome?.status === 'unknown') unknown += 1;
    const found = complaint(outcome, service.stored);
    if (found !== undefined) broken.push(`${content.length} bytes, cut at ${at}: ${found}`);
  };
  await tried(png, Number.POSITIVE_INFINITY);
  const head = service.requestBytes - png.length;
  for (let at = 1; at <= service.requestBytes; at += stepOf(how)) await tried(png, at);
  for (let at = 1; at <= long.length; at += 8_191) await tried(long, head + at);
  for (let left = 20; left >= 0; left -= 1) await tried(long, head + long.length - left);
  expect(broken).toEqual([]);
  // All of a small file leaves at once.
  expect(unknown).toBeGreaterThanOrEqual(Math.floor((service.requestBytes - long.length) / stepOf(how)));
});

test.each(['with the response', 'later, unasked'])(
  'the response to another request comes %s on a connection that is used again, cut at each byte: never taken for ours',
  async when => {
    const other = record('med_other');
    const told = new Set<string>();
    for (let at = 1; at <= other.length; at += 1) {
      const {service, client} = await serviceAndClient();
      const rest = other.slice(0, at);
      if (when === 'with the answer') service.script = {answer: {text: record('med_0') + rest}};
      expect(facts(await upload(client))).toContain('"med_0"');
      if (when !== 'with the answer') await service.sendUnasked(rest);
      const second = facts(await upload(client));
      told.add(second === 'broken' ? second : second.replace(/,.*/, ''));
      expect(service.stored.length).toBeLessThanOrEqual(2);
      await client.close();
      service.server.close();
    }
    told.delete('broken');
    expect([...told]).toEqual(['{"id":"med_1"']);
  },
);
