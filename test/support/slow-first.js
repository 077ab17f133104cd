import {BaseSequencer} from 'vitest/node';

/** Files that take longest, most of it waiting, so that nobody waits for them at the end. */
const slow = [
  'machines/slurm',
  'torture/kills',
  'torture/peers',
  'torture/lying-servers',
  'torture/faults',
  'cli/proxy-programs',
  'machines/github',
  'machines/kubernetes',
  'machines/parallel',
  'docs/',
  'torture/',
  'packaging/install',
  'packaging/library',
  'cli/memory',
  'cli/faults',
];

/** Starts the slow files first, the others as vitest does. */
export class SlowFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({moduleId}) => {
      const index = slow.findIndex(name => moduleId.includes(`/test/${name}`));
      return index < 0 ? slow.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
