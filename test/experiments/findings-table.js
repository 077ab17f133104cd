import Table from 'cli-table3';

/**
 * Prints the findings of all experiments as one table: what was tried, how often, how many held. What broke is printed at
 * once, with its seed: a whole run takes over an hour.
 */
export default class FindingsTable {
  onTestCaseResult(test) {
    const {state, errors} = test.result();
    if (state !== 'failed') return;
    const broken = test.meta().findings?.broken ?? [];
    console.log([`${test.fullName}: ${errors?.[0]?.message}`, ...broken.slice(0, 3)].join('\n'));
  }

  onTestRunEnd(modules) {
    const table = new Table({
      head: ['experiment', 'tried', 'sending', 'seed', 'note'],
      style: {head: [], border: []},
      colWidths: [null, null, null, null, 60],
      wordWrap: true,
    });
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (test.result().state === 'skipped') table.push([test.fullName, 0, 0, '', 'skipped']);
        const {findings} = test.meta();
        if (findings === undefined) continue;
        const {tried, held, seed, note} = findings;
        table.push([test.fullName, tried, held, seed, note ?? '']);
      }
    }
    console.log(table.toString());
  }
}
