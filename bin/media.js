#!/usr/bin/env node
const {read} = require('./load.js');
const {start} = require('./start.js');

// Text that never changes is read from a file, so that a starting shell need not wait for the program.
const paths = {
  '--version': 'dist/version.txt',
  '--help': 'dist/help.txt',
  'completion bash': 'completions/media.bash',
  'completion zsh': 'completions/_media',
  'completion fish': 'completions/media.fish',
  'completion powershell': 'completions/media.ps1',
};
const path = paths[process.argv.slice(2).join(' ')];
// On a terminal, help depends on the width.
if (path === undefined || (path === paths['--help'] && process.stdout.isTTY)) start('run');
else {
  // The program reports a file that is missing, and any problem with the output but a reader who has gone.
  process.stdout.on('error', () => {});
  const end = error => (error && error.code !== 'EPIPE' ? start('run') : process.exit(0));
  try {
    process.stdout.write(read(path), end);
  } catch {
    start('run');
  }
}
