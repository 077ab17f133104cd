import {describe, it} from 'vitest';
import {examplesIn, markdownFiles} from '../../support/examples.ts';
import {needPrograms} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {newcomersMachine, settledMachine, settledMachineWithNames, typeIn} from './newcomer.ts';

const pages = markdownFiles().filter(file => file.startsWith('docs/'));

describe('every example in the documentation', () => {
  it.for(pages.filter(page => examplesIn(page).some(({language}) => language === 'sh')))(
    '%s: runs as printed, in a directory with a photo, a video and "assets", once there is a key',
    slowTest,
    async (page, context) => {
      const blocks = examplesIn(page).filter(({language}) => language === 'sh');
      if (blocks.some(({code}) => code.includes('curl '))) needPrograms(context, ['curl']);
      const has = (text: string) => blocks.some(({code}) => code.includes(text));
      const settled = has('example.com') ? settledMachineWithNames : settledMachine;
      const machine = await (has('media login') ? newcomersMachine : settled)();
      for (const {code} of blocks) await typeIn(machine, code);
    },
  );
});
