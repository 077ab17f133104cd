import {test} from 'vitest';
import {documentTrees} from '../../../support/document-trees.ts';
import {expectRewritten} from '../machine.ts';

test.each(Object.entries(documentTrees).filter(([program]) => program !== 'Hugo'))(
  '%s: every reference is replaced, nothing else changes; a second run changes and uploads nothing',
  (_name, tree) => expectRewritten(tree),
);
