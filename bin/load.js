const {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} = require('node:fs');
const {dirname, join} = require('node:path');
const {getRawAsset, isSea} = require('node:sea');
const {Script} = require('node:vm');

// Compiling the program takes a sixth of the CPU of a small upload. So V8's compiled code is stored in dist/compiled, and nowhere
// else: by the build that `npm install` runs, and after the first successful run of a command, if its user owns dist. A single
// executable contains that of the most frequent commands. The name of a file contains the Node and the command, since each
// command needs its own part of the program. V8 checks only the length of the source, so a checksum of the source and the code
// follows the code. Without a usable file, or with NODE_DISABLE_COMPILE_CACHE=1, the program runs the same way, only slower.
// Node's own cache (module.enableCompileCache) stores only what was compiled before the program ran, a third of it.

const program = join(dirname(__dirname), 'dist');
const compiled = join(program, 'compiled');
/** In seconds. After a longer run, V8 has already discarded the compiled code of its beginning. */
const longestRun = 5;
const loaded = new Map();
/** The command whose compiled code is used; undefined if none is, as in child processes and threads. */
let command;

// Node 20 optimises early. V8 compiles the HTTP parser again after the first responses, which takes longer than a whole small
// upload (140 ms of CPU), and the process waits for it at its end. 20,000 responses later, that has still gained nothing, so
// WebAssembly is compiled again only if it is function 0, which is an imported one. The functions that 2,000 small files call
// often are compiled again too, which takes a sixth of the CPU of their run. With a larger budget they are when they have run
// eight times as long.
const isEager = process.versions.node.startsWith('20.');
const usualFlags = {'wasm-tier-up-filter': -1, 'interrupt-budget': 67_584};
const patientFlags = {'wasm-tier-up-filter': 0, 'interrupt-budget': 540_672};
/** Long runs profit from optimised functions, so the usual flags return after this time. */
const delayMs = 2_000;
let isPatient = false;

function setFlags(flags) {
  const {setFlagsFromString} = require('node:v8');
  for (const [name, value] of Object.entries(flags)) setFlagsFromString(`--${name}=${value}`);
}

/** V8 accepts compiled code, Node's own modules included, only under the flags it was compiled under. */
function underUsualFlags(action) {
  if (!isPatient) return action();
  setFlags(usualFlags);
  try {
    return action();
  } finally {
    setFlags(patientFlags);
  }
}

/**
 * The expression by which Node 20 recognises an IPv6 address takes 20 ms of CPU to compile, and 1 ms without optimisation. Each
 * connection to a host by name needs it. V8 compiles it to byte code at the first use, and to machine code at the second.
 */
function compileAddressPattern() {
  const {setFlagsFromString} = require('node:v8');
  const {isIPv6} = require('node:net');
  setFlagsFromString('--no-regexp-optimization');
  isIPv6('localhost');
  isIPv6('localhost');
  setFlagsFromString('--regexp-optimization');
}

/** Called when the HTTP client is loaded, and Node's modules with it, but not yet the HTTP parser. */
function delayOptimisation() {
  compileAddressPattern();
  isPatient = true;
  setFlags(patientFlags);
  const end = () => {
    isPatient = false;
    setFlags(usualFlags);
  };
  setTimeout(end, delayMs).unref();
}

/** The bytes of a file of the package, given its path in it. */
function read(path) {
  return isSea() ? Buffer.from(getRawAsset(path)) : readFileSync(join(__dirname, '..', path));
}

/** From now on, loads the compiled code of this command. */
function useCompiled(name) {
  if (process.env.NODE_DISABLE_COMPILE_CACHE !== '1') command = name;
}

/** Loads a file of dist, and the files that it requires; returns its exports. */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.module.exports;
  const filename = join(program, name);
  const source = read(`dist/${name.slice(2)}`);
  const cachedData = command && stored(name, source);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = underUsualFlags(() => new Script(wrapped, {filename, cachedData}));
  const module = {exports: {}};
  loaded.set(name, {name, module, script, source});
  const requireFrom = id => (id.startsWith('./') ? load(id) : require(id));
  try {
    script.runInThisContext().call(module.exports, module.exports, requireFrom, module, filename, program);
  } catch (error) {
    // As with require, a load that failed for lack of a descriptor can be tried again.
    loaded.delete(name);
    throw error;
  }
  if (isEager && name === './undici.cjs') delayOptimisation();
  return module.exports;
}

/** The stored code of a file of dist, if it is whole and was compiled from this source. */
function stored(name, source) {
  try {
    const bytes = isSea()
      ? Buffer.from(getRawAsset(`compiled/${name.slice(2)}-${command}`))
      : readFileSync(pathOf(name));
    const code = bytes.subarray(0, -4);
    return checksum(source, code) === bytes.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(name) {
  const build = `${process.version}-${process.arch}-${statSync(process.execPath).size}`;
  return join(compiled, `${name}-${build}-${command}`);
}

function checksum(source, code) {
  const {crc32} = require('node:zlib');
  return crc32(code, crc32(source));
}

/** Stores the code that was compiled in this run. Call it at the end of a successful run. */
function keep() {
  if (command === undefined || isSea() || process.uptime() > longestRun) return;
  try {
    // In another user's package, root would leave files that the user could not remove. Windows has no user ids.
    if (process.geteuid && statSync(program).uid !== process.geteuid()) return;
    for (const {name, script, source} of loaded.values()) {
      if (script.cachedDataRejected === false) continue;
      const code = underUsualFlags(() => script.createCachedData());
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(checksum(source, code));
      if (!existsSync(compiled)) mkdirSync(compiled, {mode: 0o755});
      writeFileSync(pathOf(name), Buffer.concat([code, sum]), {mode: 0o644});
    }
  } catch {
    // The next run compiles again, which is slower and otherwise the same.
  }
}

module.exports = {load, keep, read, useCompiled};
