const fs = require('node:fs');
const {join} = require('node:path');
const {getRawAsset, isSea} = require('node:sea');
const {Script} = require('node:vm');
const {crc32} = require('node:zlib');

// V8's compiled code is stored in dist/compiled, by the build and by the first successful run of a command: a sixth of the CPU
// of a small upload. V8 checks only the length of the source, so a checksum of both follows the code. Node's own cache
// (module.enableCompileCache) keeps only what was compiled before the program ran, a third. Without them it is only slower.
const root = join(__dirname, '..');
const dist = join(root, 'dist');
const memory = Buffer.allocUnsafe(2 ** 22); // More than the package has in all.
const loaded = new Map();
/** The command whose compiled code is used; undefined if none is, as in child processes and threads. */
let command;
/** Calls a function under the flags of V8 that stored code was compiled under. */
let underUsualFlags = action => action();

/** The bytes of a file of the package between two texts, until the next call: new memory takes longer to get than to fill. */
function read(path, before = '', after = '') {
  if (isSea()) return Buffer.concat([before, getRawAsset(path), after].map(part => Buffer.from(part)));
  const file = fs.openSync(join(root, path));
  let end = memory.write(before);
  for (let count = 1; count > 0; end += count) count = fs.readSync(file, memory.subarray(end));
  fs.closeSync(file);
  return memory.subarray(0, end + memory.write(after, end));
}

/** Loads a file of dist, and the files that it requires; returns its exports. */
function load(name) {
  if (loaded.has(name)) return loaded.get(name).module.exports;
  const bytes = read(`dist/${name}`, '(function (exports, require, module, __filename, __dirname) {', '\n})');
  const [source, sum] = [bytes.toString(), command && crc32(bytes)];
  const options = {filename: join(dist, name), cachedData: command && storedCode(name, sum)};
  const script = underUsualFlags(() => new Script(source, options));
  const module = {exports: {}};
  const requireFrom = id => (id.startsWith('./') ? load(id.slice(2)) : require(id));
  script.runInThisContext().call(module.exports, module.exports, requireFrom, module, options.filename, dist);
  // Not before, since a load that failed for lack of a descriptor can be tried again. No two files require each other.
  loaded.set(name, {module, script, sum});
  if (name === 'undici.cjs' && /^v2[046]/.test(process.version)) underUsualFlags = require('./flags.js')();
  return module.exports;
}

/** Where the compiled code of a file of dist is. Each Node and each command has its own. */
function pathOf(name) {
  const node = isSea() ? 'node' : `${process.version}-${process.arch}-${fs.statSync(process.execPath).size}`;
  return `dist/compiled/${name}-${node}-${command}`;
}

const checksum = (sum, code) => Buffer.from(crc32(code, sum).toString(16).padStart(8, '0'));

/** The stored code of a file of dist, if it is there, whole, and compiled from the source that has this checksum. */
function storedCode(name, sum) {
  try {
    const bytes = read(pathOf(name));
    const code = bytes.subarray(0, -8);
    if (bytes.subarray(-8).equals(checksum(sum, code))) return code;
  } catch {}
}

/** Stores the code that was compiled in this run, at the end of a success: after 5 s, V8 has discarded that of the beginning. */
function keep() {
  if (command === undefined || isSea() || process.uptime() > 5) return;
  try {
    // In another user's package, root would leave files that the user could not remove. Windows has no user ids.
    if (process.geteuid && fs.statSync(dist).uid !== process.geteuid()) return;
    for (const [name, {script, sum}] of loaded) {
      if (script.cachedDataRejected === false) continue;
      const code = underUsualFlags(() => script.createCachedData());
      fs.mkdirSync(join(dist, 'compiled'), {recursive: true, mode: 0o755});
      fs.writeFileSync(join(root, pathOf(name)), Buffer.concat([code, checksum(sum, code)]), {mode: 0o644});
    }
  } catch {}
}

/** Runs the program by its function of this name, which ends this process, or one of our own child processes. */
function start(name) {
  // If the program stops without having decided on an exit status, that is a bug, and must not look like success.
  process.exitCode = 7;
  const [first = '', second] = process.argv.slice(2);
  try {
    // Only a process that was started by another one of Node has an IPC channel; no user's command line is taken for one.
    const child = first === '__child' && process.channel ? second : undefined;
    if (child === 'media') return load('media-program.cjs').serveMediaChild(process);
    if (child === 'keychain') return load('keychain-child.cjs').serveKeychain();
    if (process.env.NODE_DISABLE_COMPILE_CACHE !== '1')
      command = name === 'runMediaUrl' ? 'url' : (/^[a-z]+$/.exec(first)?.[0] ?? 'media');
    return load('main.cjs').runProcess(load('main.cjs')[name], keep);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    const build = `Build it: node '${join(root, '.ci/prepare.js').replaceAll("'", "'\\''")}'`;
    const hint = fs.existsSync(join(root, '.ci')) ? build : 'Install it again.';
    process.stderr.write(`media: The program is not built: ${error.path} is missing.\n  ${hint}\n`);
  }
}

module.exports = {load, read, start};
