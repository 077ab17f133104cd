const {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const {dirname, isAbsolute, join} = require('node:path');
const {getRawAsset, isSea} = require('node:sea');
const {Script} = require('node:vm');

// Compiling the program takes 56 of 210 ms of CPU of a small upload. So the first successful run of a command stores
// V8's compiled code, and later runs load it, as Python does: in dist/compiled, or if the package belongs to another user, who
// could not remove the files (after a run by root, for example), or is not writable, in the user's cache directory. A file there
// contains the source that was compiled, then the code twice. It is used only if that source equals the file in dist, byte for
// byte, and both copies of the code agree: V8 itself checks only the length of the source. The file name contains the Node
// version and the command, since V8 accepts code of the same version only, and each command needs its own part of the
// program. Nothing is stored if neither directory can be used, or with NODE_DISABLE_COMPILE_CACHE=1; the program then runs the
// same way, only slower. Node's own cache (module.enableCompileCache) stores only the code that was compiled before the
// program ran, a third of it. A single executable contains the files of dist, and the compiled code of the most frequent
// commands; the code of the others is stored in the user's cache directory.

const program = join(dirname(__dirname), 'dist');
const user = process.geteuid?.();
/** In seconds. After a longer run, V8 has already discarded the compiled code of its beginning. */
const longestRun = 5;
const loaded = new Map();
/** Whose compiled code is used; undefined for child processes and threads, which use none. */
let command;
/** The end of all file names of this run; undefined if it stores nothing. */
let ending;
const ofPackage = join(program, 'compiled');

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
  command = name;
  ending = process.env.NODE_DISABLE_COMPILE_CACHE === '1' ? undefined : endingOf();
}

/** Loads a file of dist, and the files that it requires; returns its exports. */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.module.exports;
  const filename = join(program, name);
  const source = read(`dist/${name.slice(2)}`);
  const cachedData = ending && kept(name, source);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = underUsualFlags(() => new Script(wrapped, {filename, cachedData}));
  const module = {exports: {}};
  loaded.set(name, {name, module, script, source, isKept: script.cachedDataRejected === false});
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

/** The end of the file names: compiled code belongs to one command and one build of Node. */
function endingOf() {
  try {
    return `${process.version}-${process.arch}-${statSync(process.execPath).size}-${command}`;
  } catch {
    return undefined;
  }
}

/** The stored code of exactly this source, if both copies are intact, or the code that a single executable contains. */
function kept(name, source) {
  const ofExecutable = () => Buffer.from(getRawAsset(`compiled/${name.slice(2)}-${command}`));
  const ofDirectory = directory => {
    const bytes = readFileSync(join(directory, `${name}-${ending}`));
    const twice = bytes.subarray(source.length);
    const code = twice.subarray(0, twice.length / 2);
    const isWhole = code.equals(twice.subarray(code.length));
    return isWhole && bytes.subarray(0, source.length).equals(source) ? code : undefined;
  };
  const ofUser = () => ofDirectory(directoryOfUser());
  for (const find of [isSea() ? ofExecutable : () => ofDirectory(ofPackage), ofUser]) {
    try {
      const code = find();
      if (code !== undefined) return code;
    } catch {
      // It was not stored there.
    }
  }
  return undefined;
}

/** Stores the code that was compiled in this run and is not stored yet. Call it at the end of a successful run. */
function keep() {
  const fresh = [...loaded.values()].filter(({isKept}) => !isKept);
  if (ending === undefined || fresh.length === 0 || process.uptime() > longestRun) return;
  try {
    const isOfPackage = !isSea() && isOurs(program) && isWritable(program);
    const directory = isOfPackage ? ofPackage : directoryOfUser();
    makeDirectory(directory, isOfPackage ? 0o755 : 0o700);
    for (const one of fresh) write(directory, one);
  } catch {
    // The next run compiles again, which is slower and otherwise the same.
  }
}

/**
 * The place for compiled code in the user's cache directory. Throws if there is none, if others could have put something there,
 * or if its owner could not remove what we store (HOME of somebody else under sudo, for example).
 */
function directoryOfUser() {
  const {XDG_CACHE_HOME, HOME = '', LOCALAPPDATA = ''} = process.env;
  const caches = {darwin: join(HOME, 'Library', 'Caches'), win32: LOCALAPPDATA};
  const cache = caches[process.platform] ?? (XDG_CACHE_HOME || join(HOME, '.cache'));
  if (!isAbsolute(cache)) throw new Error('There is no cache directory.');
  const directory = join(cache, 'media', 'compiled');
  let present = directory;
  while (!existsSync(present)) present = dirname(present);
  if (!isOurs(present) || isOpenToOthers(present)) throw new Error(`${present} is not only ours.`);
  return directory;
}

/** With `recursive`, mkdir of Node 20 never returns where a directory exists and takes no others (/proc). */
function makeDirectory(directory, mode) {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory), mode);
  mkdirSync(directory, {mode});
}

// Windows has no user ids, and gives every user a cache directory of their own.
function isOurs(directory) {
  return user === undefined || statSync(directory).uid === user;
}

function isOpenToOthers(directory) {
  return user !== undefined && (statSync(directory).mode & 0o022) !== 0;
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function write(directory, {name, script, source}) {
  const code = underUsualFlags(() => script.createCachedData());
  const path = join(directory, `${name}-${ending}`);
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([source, code, code]), {flag: 'wx', mode: 0o644});
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, {force: true});
    throw error;
  }
}

module.exports = {load, keep, read, useCompiled};
