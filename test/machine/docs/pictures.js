// Draws the README's pictures, each a real run of the program on a pseudo-terminal: `npm run pictures`. The directory to
// draw them into may be named, as the test does that compares them with what the program prints.
import {copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {spawn} from '@lydell/node-pty';
import {TerminalScreen} from './terminal-screen.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [directory = join(root, '.github/pictures')] = process.argv.slice(2);
const columns = 96;

const pictures = {
  upload: ['upload', 'photo.png', '--base-url', 'embedded'],
  batch: ['upload', '-r', 'assets', '--base-url', 'embedded'],
};

mkdirSync(directory, {recursive: true});
for (const [name, parameters] of Object.entries(pictures)) {
  const screen = new TerminalScreen(columns);
  screen.write(`\u001b[1m$ media ${parameters.join(' ')}\u001b[0m\r\n`);
  screen.write(await outputOf(parameters));
  writeFileSync(join(directory, `${name}.svg`), drawing(screen.rows, `media ${parameters.join(' ')}`));
}

/** What the program writes to a terminal, on a machine with a photo, a video and a directory of both. */
async function outputOf(parameters) {
  const home = mkdtempSync(join(tmpdir(), 'media-pictures-'));
  try {
    mkdirSync(join(home, 'assets'));
    for (const file of ['photo.png', 'assets/photo.png', 'assets/clip.mp4', 'assets/page-named.png'])
      copyFileSync(join(root, 'test/fixtures', file.replace('assets/', '')), join(home, file));
    const child = spawn(process.execPath, [join(root, 'bin/media.js'), ...parameters], {
      cols: columns,
      rows: 40,
      cwd: home,
      env: {PATH: process.env.PATH, HOME: home, TMPDIR: home, TERM: 'xterm-256color', LANG: 'C.UTF-8'},
    });
    let output = '';
    child.onData(text => {
      output += text;
    });
    await new Promise(resolve => child.onExit(resolve));
    return output;
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

/** The rows as an SVG. Each run of one style is as wide as its cells, whatever font the viewer has. */
function drawing(rows, title) {
  while (rows.at(-1)?.every(({character}) => character === ' ')) rows.pop();
  const [cell, line, margin] = [8, 16, 16];
  const width = columns * cell + 2 * margin;
  const height = rows.length * line + 2 * margin;
  const lines = rows.flatMap((row, index) =>
    runsOf(row).map(({start, text, style}) => {
      const classes = [style.color, style.bold && 'bold'].filter(Boolean).join(' ');
      const place = `x="${margin + start * cell}" y="${margin + index * line + 13}"`;
      return `<text ${place} textLength="${[...text].length * cell}"${classes && ` class="${classes}"`}>${escaped(text)}</text>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" xml:space="preserve">
<title>${escaped(title)}</title>
<style>
text { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d6deeb; white-space: pre }
.bold { font-weight: bold } .gray { fill: #7f8c9f } .red { fill: #ff6b6b } .green { fill: #7fd88f }
.yellow { fill: #ffd166 } .cyan { fill: #7fdbca } .blue { fill: #82aaff } .magenta { fill: #c792ea }
</style>
<rect width="100%" height="100%" rx="8" fill="#0b1622"/>
${lines.join('\n')}
</svg>
`;
}

/** The stretches of one row that have one style, without the blank ends between them. */
function runsOf(row) {
  const runs = [];
  row.forEach(({character, style}, column) => {
    const run = runs.at(-1);
    if (run && run.style.color === style.color && run.style.bold === style.bold) run.text += character;
    else runs.push({start: column, text: character, style});
  });
  return runs
    .map(({start, text, style}) => ({
      start: start + text.length - text.trimStart().length,
      text: text.trim(),
      style,
    }))
    .filter(({text}) => text !== '');
}

function escaped(text) {
  return text.replace(/[&<>]/g, character => `&#${character.charCodeAt(0)};`);
}
