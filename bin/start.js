const {existsSync} = require('node:fs');
const {join} = require('node:path');
const {load, keep, useCompiled} = require('./load.js');

// If the program stops without having decided on an exit status, that is a bug, and must not look like success.
process.exitCode = 7;

/** Runs the program by its function of this name, which ends this process, or one of our own child processes. */
exports.start = name => {
  const [, , first = '', second] = process.argv;
  try {
    // Only a process that was started by another one of Node has an IPC channel; no user's command line is taken for one.
    const isChild = first === '__child' && process.channel;
    if (isChild && second === 'media') return load('./media-program.cjs').serveMediaChild(process);
    if (isChild && second === 'keychain') return load('./keychain-child.cjs').serveKeychain(process);
    useCompiled(name === 'runMediaUrl' ? 'url' : (/^[a-z]+$/.exec(first)?.[0] ?? 'media'));
    const main = load('./main.cjs');
    return main.runProcess(main[name], keep);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    const build = join(__dirname, '..', '.ci', 'prepare.js');
    const hint = existsSync(build)
      ? `Build it: node '${build.replaceAll("'", "'\\''")}'`
      : 'Install it again.';
    process.stderr.write(`media: The program is not built: ${error.path} is missing.\n  ${hint}\n`);
    return process.exit();
  }
};
