#!/usr/bin/env node
require('./load.js').start('runMediaUrl');
