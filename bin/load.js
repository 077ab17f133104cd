const {mkdirSync, readFileSync, statSync, writeFileSync} = require('node:fs');
const {join} = require('node:path');
const {getRawAsset, isSea} = require('node:sea');
const {Script} = require('node:vm');

// V8's compiled code is stored in dist/compiled, by the build and by the first successful run of a command: a sixth of the CPU
// of a small upload. Each Node and each command has its own files. V8 checks only the length of the source, so a checksum of
// the source and the code follows the code. Node's own cache (module.enableCompileCache) keeps only what was compiled before
// the program ran, a third of it. Without a usable file, the program runs the same way, only slower.
const program = join(__dirname, '../dist');
const compiled = join(program, 'compiled');
const loaded = new Map();
/** The command whose compiled code is used; undefined if none is, as in child processes and threads. */
let command;
/** Calls a function under the flags of V8 that stored code was compiled under. */
let underUsualFlags = action => action();

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
  if (loaded.has(name)) return loaded.get(name).module.exports;
  const filename = join(program, name);
  const source = read(`dist/${name.slice(2)}`);
  const cachedData = command && stored(name, source);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = underUsualFlags(() => new Script(wrapped, {filename, cachedData}));
  const module = {exports: {}};
  loaded.set(name, {module, script, source});
  const requireFrom = id => (id.startsWith('./') ? load(id) : require(id));
  try {
    script.runInThisContext().call(module.exports, module.exports, requireFrom, module, filename, program);
  } catch (error) {
    // As with require, a load that failed for lack of a descriptor can be tried again.
    loaded.delete(name);
    throw error;
  }
  if (name === './undici.cjs' && process.versions.node.startsWith('20.'))
    underUsualFlags = require('./node20.js')();
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
  return join(
    compiled,
    `${name}-${process.version}-${process.arch}-${statSync(process.execPath).size}-${command}`,
  );
}

function checksum(source, code) {
  const {crc32} = require('node:zlib');
  return crc32(code, crc32(source));
}

/** Stores the code that was compiled in this run. Call it at the end of a successful run. */
function keep() {
  // After 5 s, V8 has already discarded the compiled code of the beginning.
  if (command === undefined || isSea() || process.uptime() > 5) return;
  try {
    // In another user's package, root would leave files that the user could not remove. Windows has no user ids.
    if (process.geteuid && statSync(program).uid !== process.geteuid()) return;
    for (const [name, {script, source}] of loaded) {
      if (script.cachedDataRejected === false) continue;
      const code = underUsualFlags(() => script.createCachedData());
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(checksum(source, code));
      mkdirSync(compiled, {recursive: true, mode: 0o755});
      writeFileSync(pathOf(name), Buffer.concat([code, sum]), {mode: 0o644});
    }
  } catch {
    // The next run compiles again, which is slower and otherwise the same.
  }
}

module.exports = {load, keep, read, useCompiled};
