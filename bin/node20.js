const {isIPv6} = require('node:net');
const {setFlagsFromString} = require('node:v8');

// For Node 20 alone, and gone with it: flags of V8 that halve the CPU of a small upload (0.45 s instead of 0.87 s). V8 compiles
// the HTTP parser again after the first responses, which takes 140 ms, and the process waits for it at its end. So WebAssembly
// is compiled again only if it is function 0, which is an imported one. The functions that 2,000 small files call often would
// be compiled again too, a sixth of the CPU of their run. With a larger budget they are when they have run eight times as long.
const usualFlags = '--wasm-tier-up-filter=-1 --interrupt-budget=67584';
const patientFlags = '--wasm-tier-up-filter=0 --interrupt-budget=540672';

// Call it when the HTTP client is loaded, and Node's modules with it, but not yet the HTTP parser. Returns a function that runs
// another one under the usual flags, since V8 accepts compiled code only under the flags that it was compiled under.
module.exports = () => {
  // Node's pattern for IPv6 addresses takes 20 ms to optimise, at its second use; each host's name needs it.
  setFlagsFromString('--no-regexp-optimization');
  for (const host of ['localhost', 'localhost']) isIPv6(host);
  setFlagsFromString('--regexp-optimization');
  // Long runs profit from optimised functions.
  const delay = () => {
    setFlagsFromString(patientFlags);
    setTimeout(setFlagsFromString, 2_000, usualFlags).unref();
  };
  delay();
  return action => {
    setFlagsFromString(usualFlags);
    const result = action();
    delay();
    return result;
  };
};
