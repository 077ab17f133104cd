#!/usr/bin/env node
const {read, start} = require('./load.js');

// Text that never changes is read from a file, so that a starting shell need not wait for the program.
const files = {'--version': 'dist/version.txt', '--help': 'dist/help.txt'};
const shells = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};
for (const [shell, name] of Object.entries(shells)) files[`completion ${shell}`] = `completions/${name}`;
const file = files[process.argv.slice(2).join(' ')];
// On a terminal, help depends on the width.
if (file === undefined || (file === files['--help'] && process.stdout.isTTY)) start('run');
else {
  // The program reports a file that is missing, and any problem with the output but a reader who has gone.
  process.stdout.on('error', () => {});
  const end = error => (error && error.code !== 'EPIPE' ? start('run') : process.exit(0));
  try {
    process.stdout.write(read(file), end);
  } catch {
    start('run');
  }
}
