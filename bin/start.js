const {constants, existsSync, readFileSync} = require('node:fs');
const {join} = require('node:path');

/** Our own child processes, by the name that follows `__child` in their command line. */
const children = {
  media: load => load('./media-program.cjs').serveMediaChild,
  keychain: load => load('./keychain-child.cjs').serveKeychain,
};

/** The standard streams that were blocking when this process began. */
let blocking;

/** Runs the program by its function of this name, and ends this process with its result. */
async function start(name) {
  const {load, keep, useCompiled} = require('./load.js');
  const [, , first, second] = process.argv;
  // Only a process that was started by another one of Node has an IPC channel; a user's command line is never taken for one.
  if (first === '__child' && process.channel && Object.hasOwn(children, second))
    return loaded(() => children[second](load))(process);
  blocking = blockingStreams();
  // A command that listens too decides on the end itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => process.listenerCount(signal) === 1 && endBySignal(signal));
  useCompiled(name === 'runMediaUrl' ? 'url' : (/^[a-z]+$/.exec(first ?? '')?.[0] ?? 'media'));
  const {[name]: run, systemHost} = loaded(() => load('./main.cjs'));
  const status = await run(process.argv.slice(2), systemHost());
  const isStopped = typeof status === 'string' && /^(?:serve|watch)$/.test(first);
  if (status === 0 || isStopped) keep();
  if (typeof status === 'string') endBySignal(status);
  else end(status);
}

function endBySignal(signal) {
  // The first process of a container cannot be ended by its own signal, and Windows has no signals; a shell would
  // report this status for them.
  if (process.pid === 1 || process.platform === 'win32')
    process.exit(128 + require('node:os').constants.signals[signal]);
  // Ends by the signal itself, so that a shell loop stops as well; the timer keeps the process alive until the signal
  // arrives.
  process.removeAllListeners(signal);
  setTimeout(() => process.exit(1), 5000);
  restoreStreams();
  process.kill(process.pid, signal);
}

/**
 * Ends with this status. Node waits for calls on its other threads first, and a name lookup without a response takes 10
 * s or more, so this replaces the process by another program that exits at once. Node can do that from version 22.15
 * on, and not on Windows.
 */
function end(status) {
  const isCalling = process.getActiveResourcesInfo().some(name => /^(GetAddrInfo|FS)Req/.test(name));
  if (isCalling && process.execve !== undefined) {
    // A shell complains if the working directory was removed.
    process.chdir('/');
    restoreStreams();
    process.execve('/bin/sh', ['sh', '-c', `exit ${status}`]);
  }
  process.exit(status);
}

/** The standard streams that are blocking; all of them on a system that does not say. */
function blockingStreams() {
  return [0, 1, 2].filter(fd => {
    try {
      const [, octal] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'));
      return (Number.parseInt(octal, 8) & constants.O_NONBLOCK) === 0;
    } catch {
      return true;
    }
  });
}

/**
 * Node makes a pipe non-blocking when it opens it, for all programs that share it, and undoes that only when it exits or is
 * ended by a signal that nothing listens to. Otherwise the next program in the same pipe would lose output. The same goes for
 * a terminal in raw mode, on which nobody would see what they type.
 */
function restoreStreams() {
  const {Socket} = require('node:net');
  const streams = [process.stdin, process.stdout, process.stderr];
  if (process.stdin.isRaw) process.stdin.setRawMode(false);
  for (const fd of blocking) {
    try {
      // A stream that was closed has no handle any more; its descriptor stays open.
      const handle = streams[fd]._handle ?? new Socket({fd, readable: false})._handle;
      handle.setBlocking(true);
    } catch {
      // It is a file.
    }
  }
}

/** The program, or an error message if it was not built. */
function loaded(load) {
  try {
    return load();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    const [build, quoted] = [
      join(__dirname, '..', '.ci', 'prepare.js'),
      path => `'${path.replaceAll("'", "'\\''")}'`,
    ];
    const hint = existsSync(build) ? `Build it: node ${quoted(build)}` : 'Install it again.';
    process.stderr.write(`media: The program is not built: ${error.path} is missing.\n  ${hint}\n`);
    process.exit(7);
  }
}

module.exports = {start};
