// Where a single executable starts: `media-url` is a copy or a link of it, or its first argument.
const {basename} = require('node:path');

const isNamedMediaUrl = /^media-url(\.exe)?$/i.test(basename(process.argv0));
const isMediaUrl = isNamedMediaUrl || process.argv[2] === 'media-url';
if (isMediaUrl && !isNamedMediaUrl) process.argv.splice(2, 1);
if (isMediaUrl) require('../bin/media-url.js');
else require('../bin/media.js');
