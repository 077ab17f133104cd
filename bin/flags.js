// Flags of V8 for the first 2 s: what TurboFan compiles until then does not pay for itself. They save half the CPU of a small
// upload on Node 20 (0.45 s instead of 0.87 s), and of 2,000 small files 13 % on Node 24 and 7 % on Node 26. TurboFan compiles
// the HTTP parser again after the first responses, which takes 140 ms, and at its end Node 20 waits for that. Of WebAssembly,
// only function 0 may still be compiled again, which is an imported one.
const usualFlags = '--turbofan --wasm-tier-up-filter=-1';
const patientFlags = '--no-turbofan --wasm-tier-up-filter=0';
const setFlags = flags => require('node:v8').setFlagsFromString(flags);

// Call it when the HTTP client is loaded, and Node's modules with it, but not yet the HTTP parser. Returns a function that runs
// another one under the usual flags, since V8 accepts compiled code only under the flags that it was compiled under.
module.exports = () => {
  let timer;
  const delay = () => {
    setFlags(patientFlags);
    timer = setTimeout(setFlags, 2_000, usualFlags).unref();
  };
  if (process.version.startsWith('v20.')) {
    // Its pattern for IPv6 addresses takes 20 ms to optimise, at its second use; each host's name needs it.
    setFlags('--no-regexp-optimization');
    for (const host of ['localhost', 'localhost']) require('node:net').isIPv6(host);
    setFlags('--regexp-optimization');
    delay();
  } else setTimeout(delay, 50).unref(); // One small file is over by then, and need not load node:v8.
  return action => {
    if (timer) setFlags(usualFlags);
    const result = action();
    if (timer) delay();
    return result;
  };
};
