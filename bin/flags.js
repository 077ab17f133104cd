// Flags of V8 for the first 2 s, since little that it optimises until then pays for itself: half the CPU of a small upload on
// Node 20 (0.45 s instead of 0.87 s), of that of 2,000 small files 13 % on Node 24 and 7 % on Node 26. The HTTP parser would be
// compiled again after the first responses, which takes 140 ms, and Node 20 waits for that at its end: only function 0 is now,
// an imported one. Functions that are called often wait for TurboFan: on Node 20 eight times as long; later ones have Maglev.
const isNode20 = process.version.startsWith('v20.');
const usualFlags = `--wasm-tier-up-filter=-1 ${isNode20 ? '--interrupt-budget=67584' : '--turbofan'}`;
const patientFlags = `--wasm-tier-up-filter=0 ${isNode20 ? '--interrupt-budget=540672 --regexp-optimization' : '--no-turbofan'}`;
const setFlags = flags => require('node:v8').setFlagsFromString(flags);

// Call it when the HTTP client is loaded, and Node's modules with it, but not yet the HTTP parser. Returns a function that runs
// another one under the usual flags, since V8 accepts compiled code only under the flags that it was compiled under.
module.exports = () => {
  let timer;
  const delay = () => {
    setFlags(patientFlags);
    timer = setTimeout(setFlags, 2_000, usualFlags).unref();
  };
  if (isNode20) {
    // Its pattern for IPv6 addresses takes 20 ms to optimise, at its second use; each host's name needs it.
    setFlags('--no-regexp-optimization');
    for (const host of ['localhost', 'localhost']) require('node:net').isIPv6(host);
    delay();
  } else setTimeout(delay, 50).unref(); // One small file is over by then, and need not load node:v8.
  return action => {
    if (timer) setFlags(usualFlags);
    const result = action();
    if (timer) delay();
    return result;
  };
};
