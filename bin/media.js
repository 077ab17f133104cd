#!/usr/bin/env node
const {read} = require('./load.js');

// If the program stops without having decided on an exit status, that is a bug, and must not look like success.
process.exitCode = 7;
const answer = readyAnswer(process.argv.slice(2).join(' '));
const start = () => require('./start.js').start('run');
if (answer === undefined) start();
else {
  // The program reports any other problem with the output.
  process.stdout.on('error', () => {});
  process.stdout.write(answer, error => (error && error.code !== 'EPIPE' ? start() : process.exit(0)));
}

/** Text that never changes is read from a file, so that a starting shell need not wait for the program. */
function readyAnswer(command) {
  const path = {
    '--version': 'dist/version.txt',
    '--help': 'dist/help.txt',
    'completion bash': 'completions/media.bash',
    'completion zsh': 'completions/_media',
    'completion fish': 'completions/media.fish',
    'completion powershell': 'completions/media.ps1',
  }[command];
  // On a terminal, help depends on the width.
  if (path === undefined || (command === '--help' && process.stdout.isTTY)) return undefined;
  try {
    return read(path).toString();
  } catch {
    return undefined;
  }
}
