import {codeIndented, list} from 'micromark-core-commonmark';
import type {Construct, Extension} from 'micromark-util-types';

/** What is partial does not count as a paragraph that a list interrupts. */
const code: Construct = {...codeIndented, partial: true};

const anyList: Construct = {
  ...list,
  // Begins a list item as the original does, but not as one within a paragraph that has ended.
  tokenize(effects, ok, nok) {
    const {line} = this.now();
    const last = this.events.findLast(([, {start, _container}]) => _container === true || start.line < line);
    // A block that began in this line has ended the paragraph before it.
    if (last?.[1].start.line === line) this.interrupt = false;
    return list.tokenize.call(this, effects, ok, nok);
  },
};

/** A micromark extension: lists that interrupt no paragraph may begin with any number, and with an empty item. */
export const lists: Extension = {
  document: Object.fromEntries([...'*+-0123456789'].map(sign => [sign.charCodeAt(0), anyList])),
  flowInitial: {[-2]: code, [-1]: code, 32: code},
};
