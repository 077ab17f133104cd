// A service that takes whatever is posted to it and keeps nothing, on raw sockets so that it is no slower than those
// who send; /graphql has nothing but its type. Prints its port. sink.js [--delay MS] [--tls CERTIFICATE KEY]
import {readFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {createServer as createTlsServer} from 'node:tls';
import {parseArgs} from 'node:util';

const {values, positionals} = parseArgs({
  options: {delay: {type: 'string', default: '0'}, tls: {type: 'boolean', default: false}},
  allowPositionals: true,
});
const delay = Number(values.delay);
const record = JSON.stringify({
  id: 'med_1',
  type: 'IMAGE',
  urls: [{variant: 'PUBLIC', url: 'http://localhost/1'}],
});
const answerOf = body =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const taken = answerOf(record);
const ofGraphql = answerOf('{"data":{"__typename":"Query"}}');
const endOfHead = Buffer.from('\r\n\r\n');

function take(socket) {
  let head = Buffer.alloc(0);
  /** Bytes of the present body that are still to come. */
  let left = 0;
  let answer = taken;
  const finish = () => (delay === 0 ? socket.write(answer) : setTimeout(() => socket.write(answer), delay));
  socket.on('error', () => socket.destroy());
  socket.on('data', chunk => {
    let rest = chunk;
    while (rest.length > 0) {
      if (left > 0) {
        const part = Math.min(left, rest.length);
        left -= part;
        rest = rest.subarray(part);
      } else {
        head = head.length === 0 ? rest : Buffer.concat([head, rest]);
        const end = head.indexOf(endOfHead);
        if (end === -1) return;
        const text = head.latin1Slice(0, end);
        rest = head.subarray(end + endOfHead.length);
        head = Buffer.alloc(0);
        answer = text.startsWith('POST /graphql ') ? ofGraphql : taken;
        left = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
        if (/^expect: *100/im.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        if (left > 0) continue;
      }
      if (left === 0) finish();
    }
  });
}

const [certificate, key] = positionals;
const server = values.tls
  ? createTlsServer({cert: readFileSync(certificate), key: readFileSync(key)}, take)
  : createServer({noDelay: true}, take);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
