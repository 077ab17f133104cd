// A service that takes whatever is posted to it and keeps nothing, on raw sockets so that it is no slower than those
// who send; /graphql has nothing but its type. Prints its port. Of more than MOST uploads at a time it refuses the rest with 429.
// GET /counts returns how many uploads it took and refused since the last one.
// sink.js [--delay MS] [--most MOST] [--host ADDRESS] [--tls CERTIFICATE KEY]
import {readFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {createServer as createTlsServer} from 'node:tls';
import {parseArgs} from 'node:util';

const {values, positionals} = parseArgs({
  options: {
    delay: {type: 'string', default: '0'},
    most: {type: 'string', default: 'Infinity'},
    host: {type: 'string', default: '127.0.0.1'},
    tls: {type: 'boolean', default: false},
  },
  allowPositionals: true,
});
const delay = Number(values.delay);
const record = JSON.stringify({
  id: 'med_1',
  type: 'IMAGE',
  urls: [{variant: 'PUBLIC', url: 'http://localhost/1'}],
});
const taken = answerOf('200 OK', record);
const ofGraphql = answerOf('200 OK', '{"data":{"__typename":"Query"}}');
const refused = answerOf('429 Too Many Requests', JSON.stringify({code: 429, message: 'Too many uploads.'}));
const most = Number(values.most);
const counts = {taken: 0, refused: 0};
let inProgress = 0;
const endOfHead = Buffer.from('\r\n\r\n');

function answerOf(status, json) {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
}

function take(socket) {
  let head = Buffer.alloc(0);
  /** Bytes of the present body that are still to come. */
  let left = 0;
  let isTaken = false;
  let body = taken;
  const begin = () => {
    isTaken = inProgress < most;
    counts[isTaken ? 'taken' : 'refused'] += 1;
    if (isTaken) inProgress += 1;
  };
  const end = () => {
    if (isTaken) inProgress -= 1;
    isTaken = false;
  };
  const answer = () => {
    end();
    socket.write(body);
  };
  const finish = () => {
    if (!isTaken) socket.write(refused);
    else if (delay === 0) answer();
    else setTimeout(answer, delay);
  };
  socket.on('error', () => socket.destroy());
  socket.on('close', end);
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
        if (text.startsWith('GET /counts ')) {
          socket.write(answerOf('200 OK', JSON.stringify(counts)));
          Object.assign(counts, {taken: 0, refused: 0});
          continue;
        }
        body = text.startsWith('POST /graphql ') ? ofGraphql : taken;
        begin();
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
server.listen(0, values.host, () => console.log(server.address().port));
