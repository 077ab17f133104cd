#!/usr/bin/env node
// If the program stops without having decided on an exit status, that is a bug, and must not look like success.
process.exitCode = 7;
require('./start.js').start('runMediaUrl');
