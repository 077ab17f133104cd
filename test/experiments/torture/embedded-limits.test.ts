import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {
  namesIn,
  parseAnswer,
  png,
  query,
  rawConnection,
  serviceWithKey,
  temporaryDirectory,
  upload,
  uploadHead,
} from '../../embedded/support.ts';
import {startEmbeddedService} from '../../support/embedded-service.ts';
import {eventually} from '../../support/eventually.ts';
import {experiment, onlyLong} from '../../support/experiment/experiment.ts';
import {concurrently} from '../../support/experiment/tally.ts';
import {serveWith} from '../../support/few-descriptors.ts';
import {canListOpenFiles, openFiles} from '../../support/open-files.ts';

const image = png(3, 2);

interface Asked {
  method?: string;
  path?: string;
  key?: string;
  /** Header fields besides Host, Authorization and Connection. */
  fields?: string[];
  body?: string;
}

const json = 'Content-Type: application/json';

/** What /graphql may be asked: each has another status, or is answered in another place. */
const asked: Record<string, Asked> = {
  'a query': {body: '{"query":"{__typename}"}'},
  'a query that does not parse': {body: '{"query":"{"}'},
  'a query of an unknown field': {body: '{"query":"{nothing}"}'},
  'no JSON': {body: '{'},
  'no body': {body: ''},
  'another content type': {fields: ['Content-Type: text/plain'], body: '{}'},
  'a body of unknown length': {fields: [json, 'Transfer-Encoding: chunked'], body: '0\r\n\r\n'},
  'an unknown key': {key: 'mk_unknown', body: '{"query":"{__typename}"}'},
  GET: {method: 'GET', path: '/graphql?query={__typename}', fields: []},
  PUT: {method: 'PUT', body: ''},
  OPTIONS: {method: 'OPTIONS', fields: []},
};

experiment(
  'embedded service: each response of /graphql that has a body has one Content-Type',
  async () => {
    const {service, key: ourKey} = await serviceWithKey();
    const broken: string[] = [];
    for (const [what, {method = 'POST', path = '/graphql', key = ourKey, fields, body}] of Object.entries(
      asked,
    )) {
      const {socket, ended} = await rawConnection(service);
      const all = [
        `${method} ${path} HTTP/1.1`,
        `Host: ${new URL(service.url).host}`,
        `Authorization: Bearer ${key}`,
        'Connection: close',
        ...(fields ?? [json]),
        ...(body === undefined || fields?.includes('Transfer-Encoding: chunked')
          ? []
          : [`Content-Length: ${body.length}`]),
      ];
      socket.write(`${all.join('\r\n')}\r\n\r\n${body ?? ''}`);
      const answer = await ended();
      const count = answer.match(/^content-type:/gim)?.length ?? 0;
      if (count !== (answer.endsWith('\r\n\r\n') ? 0 : 1)) broken.push(`${what}: ${answer}`);
    }
    const tried = Object.keys(asked).length;
    return {tried, held: tried - broken.length, broken};
  },
  onlyLong(),
);

experiment(
  'embedded service: 25,000 aliases in a GraphQL query, 20 of them at once: refused, and nothing opened for them',
  async () => {
    const {service, key} = await serviceWithKey();
    const {id} = (await (await upload(service, key, image)).json()) as {id: string};
    const fields = [`media(id: "${id}") {id}`, 'mediaList {nodes {id}}', '__typename'];
    const before = (await openFiles()).length;
    let most = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) most = Math.max(most, (await openFiles()).length - before);
    })();
    const broken: string[] = [];
    const trials = Array.from({length: 60}, (_, index) => fields[index % fields.length] ?? '');
    await concurrently(trials, 20, async field => {
      const text = `{${Array.from({length: 25_000}, (_, index) => `a${index}: ${field}`).join(' ')}}`;
      // A longer text than 1 MiB is refused before it is parsed, by a record that has no errors.
      const answer = await query(service, key, text);
      if ('data' in answer) broken.push(`${field}: answered`);
    });
    isOver = true;
    await watching;
    // Both ends of 20 connections are in this process, and each may be replaced by another.
    if (most > 200) broken.push(`${most} files open at once`);
    return {
      tried: trials.length,
      held: trials.length - broken.length,
      broken,
      note: `${most} files open at most`,
    };
  },
  onlyLong() ?? (canListOpenFiles ? undefined : 'no /proc'),
);

experiment(
  'embedded service: out of descriptors: 503 with an error record, nothing stored; then 200',
  async () => {
    const limits = [48, 56, 64, 80, 96];
    const broken: string[] = [];
    for (const limit of limits) {
      const {service, key, records} = await serveWith(limit);
      const first = await rawConnection(service);
      const uploadOver = async () => {
        const before = first.text().length;
        first.socket.write(uploadHead(service, key, {'Content-Length': image.length}));
        first.socket.write(image);
        return eventually(() => parseAnswer(first.text().slice(before)));
      };
      if ((await uploadOver()).status !== 200) broken.push(`${limit}: the first upload`);
      const idle = await Promise.all(
        Array.from({length: limit + 16}, () => rawConnection(service).catch(() => undefined)),
      );
      // The system accepts more connections than the process can take on; it closes what is left over.
      await eventually(() => idle.some(connection => connection?.socket.readableEnded !== false));
      const {status, body} = await uploadOver();
      const stored = await records();
      if (status !== 503 || JSON.parse(body).code !== 503 || stored.length !== 1)
        broken.push(`${limit}: ${status} ${body}, ${stored.length} records`);
      for (const connection of idle) connection?.socket.destroy();
      // Connections that come too soon are closed.
      await eventually(
        async () => (await upload(service, key, image).catch(() => undefined))?.status === 200,
      );
      if ((await records()).length !== 2)
        broken.push(`${limit}: ${(await records()).length} records at the end`);
    }
    return {tried: limits.length, held: limits.length - broken.length, broken};
  },
  onlyLong() ?? (process.platform === 'win32' ? 'no limits of a shell on Windows' : undefined),
);

/** Between the parameters of a Content-Type, so that a second type or a list hides behind them. */
const foreign = [
  ', text/html',
  ' text/html',
  ',text/html;q=1',
  '; a="b',
  '; a',
  '; a=b c=d',
  '; =b',
  ';a=b\u00a0x',
];
const parameters = ['', ';a=b', '; codecs="avc1, mp4a"', ';;charset=utf-8', '; a="x;y"', '; a="\\"'];

experiment(
  'embedded service: a Content-Type with foreign parameters that hide another type: 415, nothing stored',
  async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const types = ['image/png', 'video/mp4', 'IMAGE/X-unknown'];
    const trials = types.flatMap(type =>
      parameters.flatMap(some => foreign.map(rest => `${type}${some}${rest}`)),
    );
    const broken: string[] = [];
    for (const contentType of trials) {
      const {status} = await upload(service, key, image, {'Content-Type': contentType});
      if (status !== 415) broken.push(`${contentType}: ${status}`);
    }
    const stored = (await namesIn(dataDirectory, 'records')).length;
    if (stored > 0) broken.push(`${stored} records`);
    return {tried: trials.length, held: trials.length - broken.length, broken};
  },
  onlyLong(),
);

experiment(
  'embedded service: keys.json cut off at every byte, or with a changed byte: a sentence, or it starts',
  async ({random}) => {
    const {service, dataDirectory} = await serviceWithKey();
    await service.createKey({label: 'serve', permissions: ['upload']});
    await service.close();
    const whole = await readFile(join(dataDirectory, 'keys.json'));
    const cut = Array.from({length: whole.length}, (_, length) => whole.subarray(0, length));
    const changed = Array.from({length: 500}, () => {
      const bytes = Buffer.from(whole);
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      return bytes;
    });
    const broken: string[] = [];
    let started = 0;
    await concurrently([...cut, ...changed], 4, async bytes => {
      const directory = await temporaryDirectory();
      await writeFile(join(directory, 'keys.json'), bytes);
      const end = await startEmbeddedService({dataDirectory: directory}).then(
        async again => {
          started += 1;
          await again.close();
          return undefined;
        },
        (error: Error) => error.message,
      );
      const isSentence = end === undefined || /^\S.*keys\.json is damaged: [^\n]+\.$/.test(end);
      if (!isSentence) broken.push(`${bytes.toString('latin1')}: ${end}`);
      if (!(await readFile(join(directory, 'keys.json'))).equals(bytes)) broken.push(`${end}: changed`);
    });
    const tried = cut.length + changed.length;
    return {tried, held: tried - broken.length, broken, note: `${started} times it starts`};
  },
  onlyLong(),
);
