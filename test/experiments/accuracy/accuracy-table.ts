import type {MediaFacts} from '../../../src/media/pixels/media-facts.ts';
import {agreed, type Field, fields, formatOf, isSame, type Reading} from './judges.ts';

interface Verdicts {
  right: number;
  absent: number;
  wrong: number;
}

/** How often a field of the records of a format was right, absent and wrong. */
export class AccuracyTable {
  readonly #rows = new Map<string, Record<Field, Verdicts>>();

  /** Compares facts with what programs agree on; returns a line for each that is wrong. */
  compare(contentType: string, {imageType, ...facts}: MediaFacts, judges: readonly Reading[]): string[] {
    const type = formatOf(imageType);
    const ours: Reading = {...facts, ...(type === undefined ? {} : {type})};
    const row = this.#rows.get(contentType) ?? newRow();
    this.#rows.set(contentType, row);
    const wrong: string[] = [];
    for (const field of fieldsOf(contentType)) {
      const truths = agreed(judges, field);
      if (truths.length === 0) continue;
      const verdict = verdictOf(field, ours[field], truths);
      row[field][verdict] += 1;
      if (verdict === 'wrong')
        wrong.push(`${field} ${ours[field]}, not ${truths[0]}: ${JSON.stringify(judges)}`);
    }
    return wrong;
  }

  total(): Verdicts & {tried: number} {
    const all = [...this.#rows.values()].flatMap(row => Object.values(row));
    const sum = (verdict: keyof Verdicts) => all.reduce((total, one) => total + one[verdict], 0);
    const [right, absent, wrong] = [sum('right'), sum('absent'), sum('wrong')];
    return {right, absent, wrong, tried: right + absent + wrong};
  }

  summary(): string {
    const {right, absent, wrong} = this.total();
    return `${right} right, ${absent} absent, ${wrong} wrong`;
  }

  markdown(): string {
    const cell = ({right, absent, wrong}: Verdicts) =>
      right + absent + wrong === 0 ? '' : `${right}, ${absent}, ${wrong}`;
    const rows = [...this.#rows].filter(([, row]) => fields.some(field => cell(row[field]) !== ''));
    const lines = rows
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([type, row]) => `| ${type} | ${fields.map(field => cell(row[field])).join(' | ')} |`);
    return [
      '| content type | type | width | height | duration |',
      '|---|---|---|---|---|',
      ...lines,
      '',
    ].join('\n');
  }
}

function newRow(): Record<Field, Verdicts> {
  const none = () => ({right: 0, absent: 0, wrong: 0});
  return {type: none(), width: none(), height: none(), duration: none()};
}

/** A video's record names no format, and an image's no duration. */
function fieldsOf(contentType: string): readonly Field[] {
  const other = contentType.startsWith('video/') ? 'type' : 'duration';
  return fields.filter(field => field !== other);
}

/** Durations that agree may be a tenth of a second apart: 0.53 is right where programs say 0.4 and 0.5. */
function verdictOf(
  field: Field,
  ours: string | number | undefined,
  truths: readonly (string | number)[],
): keyof Verdicts {
  if (ours === undefined) return 'absent';
  return truths.some(truth => isSame(field, truth, ours)) ? 'right' : 'wrong';
}
