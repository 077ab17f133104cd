// Loaded before the program: its journal is on a disk of which every sync but the first fails, as one that is pulled out.
const fs = require('node:fs');

const {statfs} = fs;
// Nothing is known of the file system, so that lines are made durable by calls of their own.
fs.statfs = (path, callback) => statfs(path, (error, stats) => callback(error, stats && {...stats, type: 0}));
const {open} = fs.promises;
let calls = 0;
fs.promises.open = async (...parameters) => {
  const handle = await open(...parameters);
  const datasync = handle.datasync.bind(handle);
  handle.datasync = async () => {
    calls += 1;
    if (calls > 1) throw Object.assign(new Error('EIO: i/o error, fdatasync'), {code: 'EIO'});
    return datasync();
  };
  return handle;
};
