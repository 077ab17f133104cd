const {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const {dirname, join} = require('node:path');
const {Script} = require('node:vm');

// V8 would compile the program anew in every run, which is a quarter of a small upload. So the first run of a command that
// goes well keeps what V8 compiled in dist/compiled, and the next takes it from there, as Python does. A file there holds the
// source that it was made of, then the code twice. It is taken only where that source is what dist holds now, byte for byte,
// and both copies agree: V8 itself compares no more than the length of the source, and runs whatever it is given. The file's
// name says of which Node and which command it is: V8 takes no other V8's code, and one command needs little of another's.
// Nothing is kept in a package that belongs to another user, who could not remove it (after one run by root, say); where the
// package cannot be written; and with NODE_DISABLE_COMPILE_CACHE=1. Every run compiles then, and does the same.
// Node's own cache (module.enableCompileCache) keeps what was compiled before the program ran, which is a third of it.

const program = join(dirname(__dirname), 'dist');
const directory = join(program, 'compiled');
const command = /^[a-z]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'media';
/** A run that took longer has thrown away again what V8 compiled for its beginning. */
const longestRun = 5;
const loaded = new Map();
/** What ends the name of all that this run keeps; undefined where it keeps nothing. */
const ending = process.env.NODE_DISABLE_COMPILE_CACHE === '1' ? undefined : endingOf();

// Node 20 would compile the HTTP parser once more and better after one answer, which takes longer than a whole small
// upload, and ending waits for it: not before it has parsed some hundred answers.
const v8 = /^2[01]\./.test(process.versions.node) ? require('node:v8') : undefined;
const setTieringBudget = bytes => v8?.setFlagsFromString(`--wasm-tiering-budget=${bytes}`);
setTieringBudget(1e8);

/** V8 takes code only under the flags that it was made under. */
function underUsualFlags(action) {
  setTieringBudget(18e5);
  try {
    return action();
  } finally {
    setTieringBudget(1e8);
  }
}

/** Loads a file of dist, and what it loads of dist in turn; returns its exports. */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.module.exports;
  const filename = join(program, name);
  const source = readFileSync(filename);
  const path = ending && join(directory, `${name}-${ending}`);
  const cachedData = path === undefined ? undefined : kept(path, source);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = underUsualFlags(() => new Script(wrapped, {filename, cachedData}));
  const module = {exports: {}};
  const isKept = script.cachedDataRejected === false;
  loaded.set(name, {module, script, source, path: isKept ? undefined : path});
  const requireFrom = id => (id.startsWith('./') ? load(id) : require(id));
  try {
    script.runInThisContext().call(module.exports, module.exports, requireFrom, module, filename, program);
  } catch (error) {
    // As with require: what failed for want of a descriptor may be asked for again.
    loaded.delete(name);
    throw error;
  }
  return module.exports;
}

/** Compiled code is for a command, and for this very Node. */
function endingOf() {
  try {
    return `${process.version}-${process.arch}-${statSync(process.execPath).size}-${command}`;
  } catch {
    return undefined;
  }
}

/** The code that was kept of this very source, if it is whole. */
function kept(path, source) {
  try {
    const bytes = readFileSync(path);
    const twice = bytes.subarray(source.length);
    const code = twice.subarray(0, twice.length / 2);
    const isWhole = code.equals(twice.subarray(code.length));
    return isWhole && bytes.subarray(0, source.length).equals(source) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what was compiled in this run and is not kept yet. To be called at its end, when it has gone well. */
function keep() {
  const fresh = [...loaded.values()].filter(({path}) => path !== undefined);
  if (fresh.length === 0 || process.uptime() > longestRun) return;
  try {
    // Windows has no such numbers.
    if (process.geteuid !== undefined && statSync(program).uid !== process.geteuid()) return;
    mkdirSync(directory, {recursive: true, mode: 0o755});
    accessSync(directory, constants.W_OK);
    for (const one of fresh) write(one);
  } catch {
    // The next run compiles again: it is slower, and no worse.
  }
}

function write({script, source, path}) {
  const code = underUsualFlags(() => script.createCachedData());
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([source, code, code]), {flag: 'wx', mode: 0o644});
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, {force: true});
    throw error;
  }
}

module.exports = {load, keep};
