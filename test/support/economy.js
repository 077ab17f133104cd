import {spawnSync} from 'node:child_process';

/** No file of `npm test` may take more than this share of its processor time... */
const largestShare = 0.05;
/** ...but for the simulation, which is the net under everything else. */
const shares = {'test/simulation/simulation.test.ts': 0.15};

/**
 * A reporter for a whole run of `npm test`, which a person waits for: prints its processor time, as a multiple of that of
 * `node -e 0`, and lets the run fail where a file takes more than its share. What is larger belongs into a folder `deep`.
 */
export default class Economy {
  onTestRunEnd(modules) {
    const files = modules.map(module => ({name: module.relativeModuleId, cpuMs: module.meta().cpuMs ?? 0}));
    const total = files.reduce((sum, {cpuMs}) => sum + cpuMs, 0);
    console.log(
      `Processor time: ${Math.round(total / 1000)} s, ${Math.round(total / startMs())} times that of node -e 0.`,
    );
    for (const {name, cpuMs} of files) {
      const allowed = shares[name] ?? largestShare;
      if (cpuMs <= allowed * total) continue;
      console.log(
        `${name} takes ${percent(cpuMs / total)} of it, more than its ${percent(allowed)}: move what is large in it into deep/.`,
      );
      process.exitCode = 1;
    }
  }
}

/** The processor time that Node needs to start and to end, in milliseconds: what a shell says of ten. */
function startMs() {
  const script = 'for run in 1 2 3 4 5 6 7 8 9 10; do "$0" -e 0; done; times';
  const {stdout} = spawnSync('sh', ['-c', script, process.execPath], {encoding: 'utf8'});
  const ofChildren = stdout.trim().split('\n')[1] ?? '';
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => 60 * Number(minutes) + Number(rest),
  );
  return 100 * seconds.reduce((sum, part) => sum + part, 0);
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
