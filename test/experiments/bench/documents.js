import {createHash} from 'node:crypto';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {deflateSync} from 'node:zlib';

/** Documents of about 2 KB with five references each, in directories of 50, and a picture of its own for each document. */
export function writeDocuments(directory, count) {
  for (let number = 0; number < count; number += 1) {
    const folder = join(directory, `section-${Math.floor(number / 50)}`);
    mkdirSync(folder, {recursive: true});
    writeFileSync(join(folder, `picture ${number}.png`), picture(number));
    const next = number - (number % 50) + ((number + 1) % 50);
    writeFileSync(join(folder, `page-${number}.md`), page(number, next));
  }
}

const prose = 'A paragraph of words with *emphasis*, `code` and a [link](https://example.com/page).\n'.repeat(
  10,
);

function page(number, next) {
  return `# Page ${number}

${prose}
![One](<picture ${number}.png> "A title") and ![two](picture%20${number}.png)

\`\`\`md
![not](picture ${number}.png)
\`\`\`

| a | b |
|---|---|
| ![three](picture%20${next}.png) | - |

<p align="center"><img src="picture ${number}.png" srcset="picture%20${next}.png 2x" alt=""></p>

${prose}`;
}

/** A PNG of one pixel, no two alike. */
function picture(number) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, body, createHash('md5').update(body).digest().subarray(0, 4)]);
  };
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const pixel = deflateSync(Buffer.from([0, number & 255, (number >> 8) & 255, number >> 16]));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', pixel),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
