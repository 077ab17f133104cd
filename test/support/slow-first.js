import {BaseSequencer} from 'vitest/node';

/** The slowest files. They start first, so that the run does not wait for them at its end. */
const slow = [
  'simulation/',
  'cli/watch',
  'cli/proxy-programs',
  'docs/',
  'cli/terminal',
  'cli/high-water-marks',
  'torture/',
  'cli/memory',
  'cli/faults',
  'cli/damaged-data',
  'cli/failures',
  'cli/progress',
  'cli/hostile-media',
  'embedded/streams',
  'action/action',
];

/** Starts the slow files first, and the others in vitest's order. */
export class SlowFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({moduleId}) => {
      const index = slow.findIndex(name => moduleId.includes(`/test/${name}`));
      return index < 0 ? slow.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
