import {createHash} from 'node:crypto';
import {closeSync, openSync, writeSync} from 'node:fs';

const writer = '3b1e0a527d1f4c0e';
const at = '2026-01-01T00:00:00.000Z';

/** A journal of so many files that were uploaded to a service, as a run with eight at a time writes it. */
export function writeJournal(path, service, count) {
  const file = openSync(path, 'w');
  writeSync(file, `{"journal":"media","version":2,"service":"${service}"}\n`);
  writeSync(file, `{"event":"open","by":"${writer}","at":"${at}"}\n`);
  for (let first = 0; first < count; first += 8) {
    const numbers = Array.from({length: Math.min(8, count - first)}, (_, index) => first + index);
    const release = `{"event":"release","by":"${writer}","at":"${at}"}\n`;
    writeSync(file, `${numbers.map(begun).join('')}${release}${numbers.map(stored).join('')}`);
  }
  writeSync(file, `{"event":"close","by":"${writer}","at":"${at}"}\n`);
  closeSync(file);
}

function keyOf(number) {
  const scattered = (Math.imul(number, 2654435761) >>> 0).toString(16).padStart(8, '0');
  return `${scattered}-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function begun(number) {
  const key = keyOf(number);
  const sha256 = createHash('sha256').update(key).digest('hex');
  const time = `17000000${String(number).padStart(11, '0')}`;
  const place = `"path":"library/2024/album-${number % 500}/photograph-${number}.jpeg","size":${20_000 + (number % 90_000)},"stat":"${time} ${time} 2050 ${number}","types":"extension"`;
  return `{"event":"commit","idempotencyKey":"${key}","by":"${writer}",${place},"contentType":"image/jpeg","sha256":"${sha256}"}\n`;
}

function stored(number) {
  const url = `https://media.example/files/med_${number}`;
  const record = `{"id":"med_${number}","type":"IMAGE","urls":[{"variant":"PUBLIC","url":"${url}"}],"width":640,"height":400,"imageType":"jpeg","fileUrl":"${url}","size":${20_000 + (number % 90_000)}}`;
  return `{"event":"done","idempotencyKey":"${keyOf(number)}","record":${record}}\n`;
}
