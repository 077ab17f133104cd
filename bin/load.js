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

// Keeps what V8 compiled of the program beside it, as Python does, so that the next run of the same command need not
// compile it once more, which is a quarter of a small upload. Node's own cache keeps only what was compiled before the
// program ran, a third of that. Where the program's directory cannot be written, every run compiles.

const program = join(dirname(__dirname), 'dist');
const directory = join(program, 'compiled');
/** What a command compiles is of little use to another. */
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
  const source = readFileSync(filename, 'utf8');
  // The hash of the source ends it.
  const path = ending && join(directory, `${name}-${source.slice(-17, -1)}-${ending}`);
  const cachedData = path === undefined ? undefined : kept(path);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = underUsualFlags(() => new Script(wrapped, {filename, cachedData}));
  const module = {exports: {}};
  const isKept = script.cachedDataRejected === false;
  loaded.set(name, {module, script, path: isKept ? undefined : path});
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

/** What was kept, if it is whole: V8 does not look, and runs what it is given. */
function kept(path) {
  try {
    const twice = readFileSync(path);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what was compiled in this run and is not kept yet. To be called at its end, when it has gone well. */
function keep() {
  const fresh = [...loaded.values()].filter(({path}) => path !== undefined);
  if (fresh.length === 0 || process.uptime() > longestRun) return;
  try {
    mkdirSync(directory, {recursive: true, mode: 0o755});
    accessSync(directory, constants.W_OK);
    for (const {script, path} of fresh) write(path, script);
  } catch {
    // The next run compiles again: it is slower, and no worse.
  }
}

function write(path, script) {
  const code = underUsualFlags(() => script.createCachedData());
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([code, code]), {flag: 'wx', mode: 0o644});
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, {force: true});
    throw error;
  }
}

module.exports = {load, keep};
