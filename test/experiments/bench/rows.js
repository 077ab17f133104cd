import {withSink} from './commands.js';
import {lagFileRows, lagPeerRows, lagRows} from './lag/rows.js';
import {geotags} from './rows/geotags.js';
import {journals} from './rows/journals.js';
import {manyFiles, slowAnswers, tree} from './rows/many-files.js';
import {million} from './rows/million.js';
import {largeFile, memory, overTls} from './rows/one-file.js';
import {packageSize} from './rows/package.js';
import {rewrite} from './rows/rewrite.js';
import {packageOfRoot, smallUpload, startUp} from './rows/start-up.js';

/** What is measured; each row gives the results of its lines. */
export const rows = [
  {name: 'start-up', measure: startUp},
  {name: 'small upload', measure: withSink(smallUpload)},
  {name: 'package of root', measure: withSink(packageOfRoot)},
  {name: 'large file', measure: withSink(largeFile)},
  {name: 'memory', measure: withSink(memory)},
  {name: 'many files', measure: withSink(manyFiles)},
  {name: 'slow answers', measure: withSink(slowAnswers, '--delay', '50')},
  {name: 'geotags', measure: withSink(geotags)},
  {name: 'journal', measure: withSink(journals)},
  {name: 'million', measure: withSink(million)},
  {name: 'tree', measure: withSink(tree)},
  {name: 'rewrite', measure: withSink(rewrite)},
  {name: 'TLS', measure: overTls},
  {name: 'package', measure: packageSize},
  ...lagRows,
  ...lagPeerRows,
  ...lagFileRows,
];
