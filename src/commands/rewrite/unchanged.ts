import type {UnchangedLine} from '../../output/json-output.ts';
import type {Report} from '../../output/report.ts';
import type {RewritePlan} from '../../rewrite/plan.ts';

const names: readonly (readonly [kind: UnchangedLine['unchanged']['kind'], one: string])[] = [
  ['shortcode', 'Hugo shortcode'],
  ['template', 'template expression'],
  ['import', 'import'],
  ['expression', 'JavaScript expression'],
  ['link', 'link'],
  ['front-matter', 'front matter value'],
];

/** Reports how much stays as it is, though it names local media: of each kind, as JSON for each document. */
export function reportUnchanged(report: Report, {documents}: RewritePlan): void {
  for (const [kind, one] of names) {
    let sum = 0;
    for (const {document, left} of documents) {
      const count = left?.[kind] ?? 0;
      sum += count;
      if (count > 0 && report.isJson) report.event('', {unchanged: {file: document.name, kind, count}});
    }
    if (sum > 0)
      report.note(sum === 1 ? `1 ${one} was left unchanged.` : `${sum} ${one}s were left unchanged.`);
  }
}
