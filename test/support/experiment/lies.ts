import type {Socket} from 'node:net';
import {deflateSync, gzipSync} from 'node:zlib';
import type {ErrorCode} from '../../../src/errors.ts';
import {payloads} from './hostile-text.ts';

/** One way for a server to lie. */
export interface Lie {
  name: string;
  /** What it answers an upload with: bytes, after which it closes, or whatever it does to the socket. */
  answer: string | Buffer | ((socket: Socket) => void);
  /** How the upload ends. */
  ends: ErrorCode | 'uploaded';
  /** Whether it would end a batch, so that it is told in a run of its own only. */
  alone?: boolean;
  /** Whether the answer never ends, so that its timeout has to. */
  isEndless?: boolean;
}

type Headers = Record<string, string>;

function http(status: number | string, body: string | Buffer = '', headers: Headers = {}): Buffer {
  const bytes = Buffer.from(body);
  const fields = {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

const json = (value: unknown, status: number | string = 200, headers: Headers = {}) =>
  http(status, JSON.stringify(value), headers);

const record = {id: 'm_1', type: 'IMAGE', urls: [{variant: 'PUBLIC', url: 'https://cdn.example/m_1'}]};

/** Writes again and again until the other side has had enough. */
function endless(head: string, chunk: string | Buffer) {
  return (socket: Socket) => {
    socket.write(head, 'latin1');
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) {
        // As long as the connection takes it.
      }
    };
    socket.on('drain', more);
    more();
  };
}

function drip(head: string, chunk: string) {
  return (socket: Socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(chunk), 20);
    socket.on('close', () => clearInterval(timer));
  };
}

const zeros = Buffer.alloc(64 * 1024);
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

function everyField(text: string): unknown {
  return {
    id: text,
    type: text,
    urls: [
      {variant: 'PUBLIC', url: text, [text]: text},
      {variant: text, url: text},
    ],
    width: text,
    height: text,
    imageType: text,
    fileUrl: text,
    duration: text,
    thumbnailUrl: text,
    hlsUrl: text,
    size: text,
    [text]: {[text]: [text]},
  };
}

/** All lies; `elsewhere` is the authority of another server, which nobody is ever to talk to. */
export function lies(elsewhere: string): Lie[] {
  return [
    ...noRecords(),
    ...strangeRecords(elsewhere),
    ...redirects(elsewhere),
    ...refusals(),
    ...brokenHttp(),
  ];
}

function noRecords(): Lie[] {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const bodies: [string, string | Buffer][] = [
    ['HTML', '<!doctype html><title>Log in</title><script>location="http://evil.example"</script>'],
    ['nothing', ''],
    ['a JSON string', '"m_1"'],
    ['a JSON array', '[{"id":"m_1"}]'],
    ['null', 'null'],
    ['NaN', '{"id":"m_1","size":NaN}'],
    ['Infinity', '{"id":"m_1","size":Infinity}'],
    ['an unended object', '{"id":"m_1"'],
    ['two records', '{"id":"m_1"}{"id":"m_2"}'],
    ['a zero byte at the end', '{"id":"m_1"}\0'],
    ['a raw control character in a string', '{"id":"m_\u001b[2J1"}'],
    ['an array 200,000 deep', deep],
    ['a field 200,000 deep', `{"id":"m_1","urls":${deep}}`],
    ['objects 100,000 deep', `${'{"id":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['__proto__ alone', '{"__proto__":{"id":"m_1"},"constructor":{"prototype":{"id":"m_1"}}}'],
    ['an id that is null', '{"id":null}'],
    ['an id that is an object', '{"id":{"toString":"x"}}'],
    ['an id that is an array', '{"id":["m_1"]}'],
    ['an id that is empty', '{"id":""}'],
    ['an id that is true', '{"id":true}'],
    ['more than 1 MiB', `{"id":"m_1","x":"${'x'.repeat(2 ** 20)}"}`],
    ['random bytes', Buffer.from(Array.from({length: 4096}, (_, index) => (index * 167 + 13) % 256))],
    ['UTF-16', Buffer.from('\ufeff{"id":"m_1"}', 'utf16le')],
    ['1 MB of backslashes', `{"id":"${'\\'.repeat(1_000_000)}`],
    ['1 MB of quotes', '"'.repeat(1_000_000)],
    ['1 MB of digits', `{"id":"m_1","size":${'9'.repeat(1_000_000)}x}`],
    ['1 MB of hashes', '#'.repeat(1_000_000)],
  ];
  return [
    ...bodies.map(
      ([name, body]): Lie => ({name: `200 with ${name}`, answer: http(200, body), ends: 'outcome_unknown'}),
    ),
    {name: '204', answer: 'HTTP/1.1 204 No Content\r\n\r\n', ends: 'outcome_unknown'},
    {name: '205', answer: http(205), ends: 'outcome_unknown'},
    {
      name: '206 with half a record',
      answer: http(206, '{"id":"m_', {'Content-Range': 'bytes 0-8/99'}),
      ends: 'outcome_unknown',
    },
    {name: 'a gzip bomb', answer: http(200, bomb, {'Content-Encoding': 'gzip'}), ends: 'outcome_unknown'},
    {
      name: 'a gzip bomb in gzip',
      answer: http(200, gzipSync(bomb), {'Content-Encoding': 'gzip, gzip'}),
      ends: 'outcome_unknown',
    },
    {
      name: 'a deflate bomb',
      answer: http(200, deflateSync(Buffer.alloc(64 * 1024 * 1024)), {'Content-Encoding': 'deflate'}),
      ends: 'outcome_unknown',
    },
    {
      name: 'an endless chunked body',
      answer: endless(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
        Buffer.concat([Buffer.from('10000\r\n'), zeros, Buffer.from('\r\n')]),
      ),
      ends: 'outcome_unknown',
    },
    {
      name: 'a body of 10 GB',
      answer: endless('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n', zeros),
      ends: 'outcome_unknown',
    },
    {
      name: 'an endless body without a length',
      answer: endless('HTTP/1.1 200 OK\r\n\r\n', zeros),
      ends: 'outcome_unknown',
    },
    {
      name: 'a body of a byte every 20 ms',
      answer: drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', ' '),
      ends: 'outcome_unknown',
      isEndless: true,
    },
    {name: 'no answer at all', answer: () => {}, ends: 'outcome_unknown', isEndless: true},
    {
      name: 'a head of a byte every 20 ms',
      answer: drip('HTTP/1.1 200 OK\r\nX: ', 'x'),
      ends: 'outcome_unknown',
      isEndless: true,
    },
  ];
}

function strangeRecords(elsewhere: string): Lie[] {
  const url = `http://${elsewhere}/second`;
  const stored: [string, string | Buffer][] = [
    ...Object.entries(payloads).map(([name, text]): [string, Buffer] => [
      `${name} in every field`,
      json(everyField(text)),
    ]),
    [
      'its own addresses elsewhere',
      json({...record, fileUrl: url, hlsUrl: url, thumbnailUrl: url, urls: [{variant: 'PUBLIC', url}]}),
    ],
    [
      'headers that point elsewhere',
      json(record, 200, {
        Location: url,
        Refresh: `0; url=${url}`,
        Link: `<${url}>; rel=preload`,
        'Alt-Svc': `h2="${elsewhere}"; ma=9999`,
        'Set-Cookie': 'session=evil',
        'Content-Location': url,
      }),
    ],
    ['201', json(record, 201, {Location: url})],
    ['206 with a whole record', json(record, 206)],
    ['299', json(record, 299)],
    ['a claim to be gzip', json(record, 200, {'Content-Encoding': 'gzip'})],
    ['a claim to be br', json(record, 200, {'Content-Encoding': 'br'})],
    ['a claim to be HTML', json(record, 200, {'Content-Type': 'text/html'})],
    ['a byte order mark', http(200, `\ufeff${JSON.stringify(record)}`)],
    [
      '__proto__',
      http(200, '{"id":"m_1","__proto__":{"polluted":1},"constructor":1,"toString":2,"hasOwnProperty":3}'),
    ],
    ['an id of 40 digits', http(200, '{"id":1234567890123456789012345678901234567890}')],
    ['a size beyond every number', http(200, '{"id":"m_1","size":1e999,"width":-0,"height":1E-999}')],
    [
      'wrong types',
      http(
        200,
        '{"id":"m_1","type":[],"urls":{"a":1},"width":"wide","height":{},"imageType":7,"fileUrl":5,"duration":"x","size":true}',
      ),
    ],
    [
      'urls of wrong types',
      http(200, '{"id":"m_1","urls":[null,1,"x",[],{},{"variant":"PUBLIC","url":7}],"fileUrl":null}'),
    ],
    ['a field of 900 kB', json({...record, note: 'x'.repeat(900_000)})],
    ['an id of 100 kB', json({id: 'x'.repeat(100_000)})],
    [
      '20,000 fields',
      json({
        id: 'm_1',
        ...Object.fromEntries(Array.from({length: 20_000}, (_, index) => [`f${index}`, index])),
      }),
    ],
    ['10,000 urls', json({id: 'm_1', urls: Array.from({length: 10_000}, () => record.urls[0])})],
    ['the same field twice', http(200, '{"id":"m_1","id":"m_2"}')],
    ['bytes that are not UTF-8', http(200, Buffer.from('{"id":"m_\xff\xfe\x9b31m"}', 'latin1'))],
    ['half a surrogate pair', http(200, '{"id":"m_\\ud800"}')],
    [
      '1,000 answers of 103 before it',
      Buffer.concat([
        Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n'.repeat(1_000)),
        json(record),
      ]),
    ],
    ['a second answer behind it', Buffer.concat([json(record), json({id: 'm_evil'})])],
    [
      'a reason with escapes',
      Buffer.from(
        `HTTP/1.1 200 \u001b[2Jok\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"id":"m_1"}`,
        'latin1',
      ),
    ],
  ];
  return stored.map(([name, answer]) => ({name: `a record with ${name}`, answer, ends: 'uploaded'}));
}

function redirects(elsewhere: string): Lie[] {
  const statuses = [300, 301, 302, 303, 304, 305, 306, 307, 308];
  const targets: [string, string][] = [
    ['an unencrypted address', `http://${elsewhere}/v1/media/upload`],
    ['no scheme', `//${elsewhere}/`],
    ['a user', `http://m_1:x@${elsewhere}/`],
    ['a javascript URL', 'javascript:alert(1)'],
    ['a data URL', 'data:application/json,{"id":"m_1"}'],
    ['a file URL', 'file:///etc/passwd'],
    ['C1 and escapes', '\u009b2Jhttp://\u001b]0;x\u0007'],
    ['100 kB', `http://${'a'.repeat(10_000)}/`],
    ['nothing', ''],
  ];
  return [
    ...statuses.map(
      (status): Lie => ({
        name: `${status} to another origin`,
        answer:
          status === 304
            ? `HTTP/1.1 304 Not Modified\r\nLocation: https://${elsewhere}/\r\n\r\n`
            : json(record, status, {Location: `https://${elsewhere}/v1/media/upload`}),
        ends: 'redirected',
      }),
    ),
    ...targets.map(
      ([name, location]): Lie => ({
        name: `307 to ${name}`,
        answer: http(307, '', {Location: location}),
        // An escape byte in a header is no HTTP at all.
        ends: location.includes('\u001b') ? 'outcome_unknown' : 'redirected',
      }),
    ),
  ];
}

function refusals(): Lie[] {
  return [
    ...Object.entries(payloads).map(
      ([name, message]): Lie => ({
        name: `400 that says ${name}`,
        answer: json({code: 400, message, [message]: message}, 400),
        ends: 'rejected',
      }),
    ),
    {
      name: '400 that says 900 kB',
      answer: json({code: 1, message: 'x'.repeat(900_000)}, 400),
      ends: 'rejected',
    },
    {
      name: '400 with a code beyond numbers',
      answer: http(400, '{"code":1e999,"message":"x"}'),
      ends: 'rejected',
    },
    {
      name: '400 with a message that is none',
      answer: http(400, '{"code":{},"message":{"toString":1}}'),
      ends: 'rejected',
    },
    {name: '400 with __proto__', answer: http(400, '{"__proto__":{"message":"x"}}'), ends: 'rejected'},
    {
      name: '401 with escapes',
      answer: json({code: 401, message: payloads['C1 controls']}, 401),
      ends: 'unauthorized',
      alone: true,
    },
    {name: '403 with HTML', answer: http(403, '<h1>no</h1>'), ends: 'forbidden', alone: true},
    {name: '404 with a record', answer: json(record, 404), ends: 'not_found', alone: true},
    {name: '407', answer: http(407, '', {'Proxy-Authenticate': 'Basic'}), ends: 'rejected'},
    {name: '418 with a record', answer: json(record, 418), ends: 'rejected'},
    {
      name: '429 for a thousand years',
      answer: http(429, '', {'Retry-After': '99999999999999'}),
      ends: 'rate_limited',
    },
    {
      name: '503 until the year 9999',
      answer: http(503, '', {'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT'}),
      ends: 'outcome_unknown',
    },
    {
      name: '503 with a Retry-After that is none',
      answer: http(503, '', {'Retry-After': '-1e9; NaN'}),
      ends: 'outcome_unknown',
    },
    {
      name: '503 with an error record, cut off',
      answer: `HTTP/1.1 503 x\r\nContent-Length: 500\r\n\r\n{"code":1,"message":"Busy."}`,
      ends: 'outcome_unknown',
    },
    {name: '500 with a record', answer: json(record, 500), ends: 'outcome_unknown'},
    {name: '599 with HTML', answer: http(599, '<h1>proxy</h1>'), ends: 'outcome_unknown'},
    {name: '999', answer: json(record, 999), ends: 'outcome_unknown'},
  ];
}

function brokenHttp(): Lie[] {
  const text = JSON.stringify(record);
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const answers: [string, string | Buffer | ((socket: Socket) => void)][] = [
    ['100 and no more', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a reset', socket => socket.resetAndDestroy()],
    ['the end', ''],
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a TLS alert', Buffer.from('15030100020246', 'hex')],
    ['HTTP/0.9', text],
    ['HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
    ['101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['a status of 1000', `HTTP/1.1 1000 x\r\nContent-Length: 0\r\n\r\n`],
    ['a status of 099', `HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n`],
    ['two lengths', `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nContent-Length: 5\r\n\r\n${text}`],
    ['a negative length', `HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n${text}`],
    ['a length of 30 digits', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n${text}`],
    ['a length that is too large', `HTTP/1.1 200 OK\r\nContent-Length: ${text.length + 1}\r\n\r\n${text}`],
    ['a chunk of no size', `${chunked}zz\r\n${text}\r\n0\r\n\r\n`],
    ['a chunk of 2^64', `${chunked}FFFFFFFFFFFFFFFFF\r\n${text}`],
    ['a chunk that is cut', `${chunked}ff\r\n${text}`],
    ['1 MB of header', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`],
    ['100,000 headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(100_000)}\r\n`],
    [
      'endless headers',
      endless('HTTP/1.1 200 OK\r\n', 'X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(500)),
    ],
    ['an escape in a header', `HTTP/1.1 400 no\r\nX: \u001b[2J\r\nContent-Length: 0\r\n\r\n`],
    ['a header without a name', `HTTP/1.1 200 OK\r\n: x\r\nContent-Length: ${text.length}\r\n\r\n${text}`],
    ['a space before the colon', `HTTP/1.1 200 OK\r\nContent-Length : ${text.length}\r\n\r\n${text}`],
  ];
  return answers.map(([name, answer]) => ({
    name: `${name} instead of an answer`,
    answer,
    ends: 'outcome_unknown',
  }));
}
