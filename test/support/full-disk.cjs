// Loaded before the program: the disk of its journal is full when it records the first result, after half of it, and has room again then.
const {promises} = require('node:fs');

const {open} = promises;
let isFull = false;
let wasFull = false;
promises.open = async (...parameters) => {
  const handle = await open(...parameters);
  const write = handle.write.bind(handle);
  handle.write = async (bytes, offset, length, ...others) => {
    if (isFull) {
      isFull = false;
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC'});
    }
    isFull = !wasFull && Buffer.from(bytes).includes('"event":"done"');
    wasFull ||= isFull;
    return write(bytes, offset, isFull ? Math.floor(length / 2) : length, ...others);
  };
  return handle;
};
