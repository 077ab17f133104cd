import {type CrashState, crashStates, type Thoroughness} from './states.ts';
import type {Story} from './story.ts';

/** What became of a story. */
export interface Trial {
  /** How many different states its power cuts may leave. */
  states: number;
  /** The changes that it made, in order: of the same story, always the same ones. */
  changes: string[];
  tried: number;
  broken: string[];
}

/** So many that each story is tried in a minute. */
const thoroughness: Thoroughness = {limit: 256, cuts: 'many'};

const last = 4;

/**
 * Goes on after the power cuts of a story: from each state, or, of more than `most`, from as many that lie evenly, and from the
 * last ones, when everything was told.
 */
export async function tryStory(story: Story, most = Number.POSITIVE_INFINITY): Promise<Trial> {
  const {start, changes} = await story.record();
  const states = [...crashStates(start, changes, thoroughness)];
  const step = Math.max(1, states.length / most);
  const broken: string[] = [];
  let tried = 0;
  for (const [number, state] of states.entries()) {
    const isNext = number >= Math.floor(tried * step);
    if (!isNext && number < states.length - last) continue;
    tried += 1;
    const found = await story.check(state);
    if (found.length > 0) broken.push(`after ${state.at} changes: ${found.join('; ')}\n${described(state)}`);
  }
  return {
    states: states.length,
    changes: changes.map(change => JSON.stringify(change, brief)),
    tried,
    broken,
  };
}

/** Leaves the bytes of a write out, which JSON has as numbers. */
function brief(key: string, value: unknown): unknown {
  return key === 'bytes' ? undefined : value;
}

function described({names, contents, events}: CrashState): string {
  const files = [...names].map(([path, file]) => {
    const text = `${contents.get(file)}`.replaceAll('\0', '0');
    return `  ${path}: ${text.length > 3000 ? `${text.length} bytes` : text}`;
  });
  return [...files, ...events.map(event => `  - ${event}`)].join('\n');
}
