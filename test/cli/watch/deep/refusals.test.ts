import {type Refusal, refusedAtOnce} from '../machine.ts';

const refusals: Refusal[] = [
  ['a file', ['photo.png'], 2, /photo\.png is not a directory/],
  ['a name with a backslash', ['back\\slash'], 2, /back\\slash cannot be watched: its path has a backslash/],
  ['moved to where it is', ['in', '--move-to', 'in'], 2, /the watched directory in overlap\./],
  [
    'moved to a parent',
    ['in/sub', '--move-to', '.'],
    2,
    /--move-to \. and the watched directory in\/sub overlap\./,
  ],
  ['moved to a parent by a link', ['link', '--move-to', 'in'], 2, /the watched directory link overlap\./],
  [
    'two formats',
    ['in', '--ndjson', '--template', '{id}'],
    2,
    /'--ndjson' cannot be used with option '--template <text>'/,
  ],
  ['an unknown field', ['in', '--template', '{fiel}'], 2, /unknown field: \{fiel\}/],
  ['a wrong setting', ['in', '--settle', '1s'], 2, /"fast" is not a value of limit-rate/],
];

for (const refusal of refusals) refusedAtOnce(refusal);
