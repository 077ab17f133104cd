import {describe, expect, it} from 'vitest';
import {examplesIn, markdown, markdownFiles} from '../../support/examples.ts';
import {needPrograms} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {newcomersMachine, settledMachine, settledMachineWithNames, typeIn} from './newcomer.ts';

const pages = markdownFiles().filter(file => file.startsWith('docs/'));

describe('the documentation', () => {
  it('has at most 12,000 words with the README', () => {
    const texts = ['README.md', ...pages.filter(page => /^docs\/[^/]+$/.test(page))].map(markdown);
    expect(texts.join(' ').trim().split(/\s+/).length).toBeLessThanOrEqual(12_000);
  });

  it('says what output is on two screens of 40 lines, before its tables', () => {
    const [text = ''] = markdown('docs/output.md').split(/^\|/m);
    expect(text.split('\n').length).toBeLessThanOrEqual(80);
  });
});

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
