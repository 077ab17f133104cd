import {parseErrorRecord, parseRecord} from '../../src/engine/service/record.ts';
import type {UploadRequest, UploadResponse} from '../../src/engine/service/uploader.ts';
import type {Process} from './process.ts';
import type {World} from './world.ts';

/** How a connection ends at some byte; with `half-close` the service still takes what comes. */
export type End = 'reset' | 'close' | 'half-close';

/** What a service answers, and whether it may have stored the upload all the same. */
interface Answer {
  mayStore: boolean;
  text: (id: string, size: number) => string;
}

const http = (status: number, body: string, length = body.length) =>
  `HTTP/1.1 ${status} Status\r\nContent-Length: ${length}\r\n\r\n${body}`;
const recordOf = (id: string, size: number) => JSON.stringify({id, type: 'IMAGE', size});
const record = (id: string, size: number) => http(200, recordOf(id, size));

/** What the known lying servers answer. */
export const answers = {
  'a record': {mayStore: true, text: record},
  'a record of another size': {mayStore: true, text: (id, size) => record(id, size + 1)},
  'a record twice': {mayStore: true, text: (id, size) => record(id, size).repeat(2)},
  'a record after 100 and 103': {
    mayStore: true,
    text: (id, size) =>
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </>\r\n\r\n${record(id, size)}`,
  },
  'a record that is too short': {
    mayStore: true,
    text: (id, size) => http(200, recordOf(id, size), recordOf(id, size).length + 7),
  },
  'half a record': {mayStore: true, text: (id, size) => http(200, recordOf(id, size).slice(0, -9))},
  'a page': {mayStore: true, text: () => http(200, '<title>Log in</title>')},
  'an empty 200': {mayStore: true, text: () => http(200, '')},
  'no HTTP': {mayStore: true, text: () => 'SSH-2.0-OpenSSH_9.6\r\n'},
  '502 of a gateway': {mayStore: true, text: () => http(502, '<h1>Bad Gateway</h1>')},
  '503 of a gateway': {mayStore: true, text: () => http(503, '')},
  nothing: {mayStore: true, text: () => ''},
  '503 of its own': {mayStore: false, text: () => http(503, '{"code":1,"message":"later"}')},
  '429': {mayStore: false, text: () => http(429, '')},
  '413': {mayStore: false, text: () => http(413, '{"code":1,"message":"no"}')},
} as const satisfies Record<string, Answer>;

export type AnswerName = keyof typeof answers;

/** Whether an answer says that the upload is stored. */
function isRecord(name: AnswerName): boolean {
  return name.startsWith('a record') && name !== 'a record that is too short';
}

const answerNames = Object.keys(answers) as AnswerName[];

/** What the bytes of a response say that have come so far: `nothing`, that one has `begun`, or what it is. */
export function responseOf(text: string, hasEnded: boolean): UploadResponse | 'nothing' | 'begun' | 'broken' {
  const head = /^HTTP\/1\.1 (\d{3}) .*?\r\n\r\n/s.exec(text)?.[0];
  if (head === undefined) {
    const isHttp = 'HTTP/1.1 '.startsWith(text.slice(0, 9));
    return hasEnded || !isHttp ? 'broken' : 'nothing';
  }
  const status = Number(head.slice(9, 12));
  if (status < 200) return responseOf(text.slice(head.length), hasEnded);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  const body = text.slice(head.length, head.length + length);
  const isWhole = body.length === length;
  if (!isWhole && !hasEnded) return 'begun';
  if (status > 299) {
    const {message, code: serviceCode} = parseErrorRecord(body) ?? {};
    return {
      kind: 'refused',
      status,
      ...(message !== undefined && {message}),
      ...(serviceCode && {serviceCode}),
    };
  }
  if (!isWhole) return {kind: 'unreadable', status, problem: 'cut off'};
  const received = parseRecord(body);
  if (body !== '' && !('problem' in received)) return {kind: 'stored', received};
  return {
    kind: 'unreadable',
    status,
    problem: body === '' || !('problem' in received) ? 'empty' : received.problem,
  };
}

/** The bytes of a request before its body. */
const headBytes = 200;

/** What a request meets; bytes are counted from the first of the request or of the response. */
export interface Trouble {
  answer: AnswerName;
  /** Whether an upload that may be stored is. */
  isStored: boolean;
  /** Answered when so many bytes of the request have come, whether or not more do. */
  answeredAt?: number;
  requestEnd?: {at: number; how: End};
  responseEnd?: {at: number; how: End};
}

export const noTrouble: Trouble = {answer: 'a record', isStored: true};

export function drawTrouble(world: World, bodyBytes: number): Trouble {
  const size = headBytes + bodyBytes;
  const how = world.pick<End>(['reset', 'close', 'half-close']);
  const trouble = {answer: world.pick(answerNames), isStored: world.oneIn(2)};
  switch (world.below(4)) {
    case 0:
      return {...trouble, requestEnd: {at: world.pick([0, world.below(size), size - 1]), how}};
    case 1:
      return {...trouble, answeredAt: world.below(size)};
    case 2:
      return {...noTrouble, responseEnd: {at: world.below(120), how}};
    default:
      return trouble;
  }
}

/** Where a whole upload comes to. */
export interface Receiver {
  /** Called when the last bytes are sent. */
  released(body: Buffer): void;
  /** Returns its id, or to undefined if its key is known with other content. */
  store(body: Buffer): string | undefined;
}

/** Between two pieces: at the same moment, they would come in any order. */
const leastGapMs = 0.01;

/** One request over one connection, whose bytes leave in pieces, and arrive, or do not, at moments of the simulated time. */
export class Exchange {
  readonly #world: World;
  readonly #process: Process;
  readonly #request: UploadRequest;
  readonly #trouble: Trouble;
  readonly #receiver: Receiver;
  readonly #answer: Promise<UploadResponse>;
  #resolve: (answer: UploadResponse) => void = () => {};
  #reject: (error: Error) => void = () => {};
  readonly #sent: Buffer[] = [];
  #received = 0;
  #response = '';
  #id: string | undefined;
  #isReleased = false;
  #hasAnswered = false;
  /** Whether the client sends nothing any more. */
  #isClosed = false;
  /** Whether the service receives nothing any more. */
  #isGone = false;
  /** Whether what is on its way is lost when the process ends. */
  readonly #dies: boolean;
  /** The longest time that a piece takes, in milliseconds: the service is near or far. */
  readonly #longestWay: number;
  /** When the piece before arrives, in each direction. */
  readonly #arrival = {request: 0, response: 0};

  constructor(
    {world, process, receiver}: {world: World; process: Process; receiver: Receiver},
    request: UploadRequest,
    trouble: Trouble,
  ) {
    this.#world = world;
    this.#process = process;
    this.#request = request;
    this.#trouble = trouble;
    this.#receiver = receiver;
    this.#dies = world.oneIn(2);
    this.#longestWay = world.pick([1, 20]);
    this.#answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  async run(): Promise<UploadResponse> {
    const {signal} = this.#request;
    const abort = () => this.#end(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, {once: true});
    // Where the body itself fails, that is the error.
    this.#send().catch((error: Error) => this.#end(error));
    return this.#answer.finally(() => signal.removeEventListener('abort', abort));
  }

  async #send(): Promise<void> {
    const {body} = this.#request;
    const wire = {connectMs: 1, unsentBytes: 0};
    await this.#process.step(() => {}, 1 + this.#world.random() * 20);
    const whole = this.#world.oneIn(2) ? body.whole : undefined;
    await whole?.ready();
    const content = whole?.bytes ?? body.content;
    for await (const chunk of content instanceof Uint8Array ? [content] : content(wire)) {
      const hasAnswer = responseOf(this.#response, false) !== 'nothing';
      if (hasAnswer || this.#isClosed) {
        // A connection that is being closed may read on, but nothing more is sent.
        if (this.#world.oneIn(2)) continue;
        if (hasAnswer) return;
        throw Object.assign(new Error('The connection has ended.'), {code: 'ECONNRESET'});
      }
      const sent = this.#sent.reduce((sum, {length}) => sum + length, chunk.length);
      this.#sent.push(Buffer.from(chunk));
      if (sent === body.length) {
        body.release?.(wire);
        this.#isReleased = true;
        this.#receiver.released(Buffer.concat(this.#sent));
      }
      this.#write(chunk.length + (sent === chunk.length ? headBytes : 0));
      await this.#process.step(() => {}, this.#world.random());
    }
  }

  #write(bytes: number): void {
    const first = this.#world.oneIn(2) ? this.#world.below(bytes) : 0;
    for (const piece of [first, bytes - first])
      if (piece > 0) this.#deliver('request', () => this.#arrive(piece));
  }

  /** Pieces of one direction arrive one after the other. */
  #deliver(direction: 'request' | 'response', action: () => void): void {
    const {now} = this.#world;
    const at = Math.max(now, this.#arrival[direction] + leastGapMs) + this.#world.random() * this.#longestWay;
    this.#arrival[direction] = at;
    if (direction === 'response') this.#process.after(at - now, action);
    else this.#world.after(at - now, action);
  }

  /** Bytes come to the service. */
  #arrive(bytes: number): void {
    if (this.#isGone || (this.#dies && this.#process.isKilled)) return;
    this.#received += bytes;
    const {requestEnd, answeredAt = Number.POSITIVE_INFINITY} = this.#trouble;
    if (requestEnd !== undefined && this.#received >= requestEnd.at) this.#endService(requestEnd.how);
    if (!this.#isGone && this.#received >= answeredAt) this.#answerEarly();
    if (!this.#isGone && this.#received === headBytes + this.#request.body.length) this.#complete();
  }

  #endService(how: End): void {
    this.#hasAnswered = true;
    this.#isGone = how !== 'half-close';
    this.#deliver('response', () => this.#end());
  }

  /** All of it has come; what the process does meanwhile no longer matters. */
  #complete(): void {
    const {answer, isStored} = this.#trouble;
    const stores = isRecord(answer) || (answers[answer].mayStore && isStored);
    this.#world.after(this.#world.random() * 40, () => {
      const body = Buffer.concat(this.#sent);
      if (stores) this.#id = this.#receiver.store(body);
      this.#respond(stores && this.#id === undefined ? http(422, '') : undefined);
    });
  }

  /** Who says early that it is stored, of an upload that is not withheld, could not be told from who says so truly. */
  #answerEarly(): void {
    if (!isRecord(this.#trouble.answer)) this.#respond();
    else if (!this.#isReleased) this.#read(answers[this.#trouble.answer].text('med_early', 1));
  }

  #respond(refusal?: string): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const {answer, responseEnd} = this.#trouble;
    const text = refusal ?? answers[answer].text(this.#id ?? '', this.#request.body.length);
    const sent = text.slice(0, responseEnd?.at);
    const first = this.#world.oneIn(3) ? this.#world.below(sent.length) : 0;
    for (const piece of [sent.slice(0, first), sent.slice(first)])
      if (piece !== '') this.#deliver('response', () => this.#read(piece));
    if (responseEnd !== undefined || answer === 'a record that is too short')
      this.#deliver('response', () => this.#end());
  }

  /** Bytes come to the client. */
  #read(piece: string): void {
    this.#response += piece;
    const answer = responseOf(this.#response, false);
    if (answer === 'broken') this.#end();
    else if (typeof answer === 'object') this.#resolve(answer);
  }

  /** The connection ends for the client: what it has not sent does not arrive, and what is on its way may not. */
  #end(error: Error = Object.assign(new Error('reset'), {code: 'ECONNRESET'})): void {
    this.#isClosed = true;
    if (this.#world.oneIn(2)) this.#isGone = true;
    const answer = responseOf(this.#response, true);
    if (typeof answer === 'object') this.#resolve(answer);
    else this.#reject(error);
  }
}
