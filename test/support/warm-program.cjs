// Runs one command line of the built program after another, each as bin/media.js would: its output goes to the real
// standard output and error, its environment and working directory are the process's own. See warm.ts.
const {Readable} = require('node:stream');
const {load} = require('../../bin/load.js');

const {run, systemHost} = load('main.cjs');
const stdin = Object.getOwnPropertyDescriptor(process, 'stdin').get;
let isStdinUsed = false;
/** The standard input of a run that gets one. */
let input;
Object.defineProperty(process, 'stdin', {
  configurable: true,
  get() {
    if (input !== undefined) return input;
    isStdinUsed = true;
    return stdin.call(process);
  },
});
// Each is opened at its first use.
const {stdout, stderr} = process;
process.on('disconnect', () => process.exit());
process.on('message', async ({parameters, env, cwd, end, input: text}) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  input = text === undefined ? undefined : Readable.from([Buffer.from(text)]);
  const before = process.getActiveResourcesInfo().length;
  const status = await run(parameters, systemHost());
  process.chdir('/');
  // What was closed is gone some turns later.
  for (let turns = 0; turns < 50 && process.getActiveResourcesInfo().length > before; turns += 1)
    await new Promise(resolve => {
      setImmediate(resolve);
    });
  // Whatever is left would end with its process; this one takes no other command line then.
  const isSpent = isStdinUsed || process.getActiveResourcesInfo().length > before;
  forgetListeners();
  stderr.write(`${end}\n`);
  stdout.write(`${end}${JSON.stringify({status, isSpent})}\n`);
});

/** What listened before the first run, to which each later one comes back. */
const emitters = [process, stdout, stderr].map(emitter => ({
  emitter,
  kept: new Map(emitter.eventNames().map(name => [name, emitter.rawListeners(name)])),
}));

/** Takes off the listeners that end with their process. */
function forgetListeners() {
  for (const {emitter, kept} of emitters)
    for (const name of emitter.eventNames())
      for (const listener of emitter.rawListeners(name))
        if (!kept.get(name)?.includes(listener)) emitter.removeListener(name, listener);
}
