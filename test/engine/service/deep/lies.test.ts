import {PassThrough} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {type FormatName, formatNames} from '../../../../src/cli/output/results/formats.ts';
import {Results} from '../../../../src/cli/output/results/results.ts';
import {Stdout} from '../../../../src/cli/output/stdout.ts';
import {type Outcome, withHints} from '../../../../src/engine/transfer/outcome.ts';
import {notJson, rawControl, runnerCommands} from '../../../support/experiment/hostile-text.ts';
import {liar, listening} from '../../../support/experiment/liar.ts';
import {lies} from '../../../support/experiment/lies.ts';
import {inWords} from '../../../support/hints.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';
import {clientOf, memorySource, uploadEach} from '../support.ts';

/** What is printed of an outcome without colours. */
async function printed(outcome: Outcome, format: FormatName): Promise<string> {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80});
  const chunks: Buffer[] = [];
  stream.on('data', chunk => chunks.push(chunk));
  const options = {format, several: true, dryRun: false, isVerbose: false};
  const results = new Results(new Stdout(stream), {NO_COLOR: '1'}, options);
  await results.add(withHints(outcome, inWords));
  await results.end();
  return Buffer.concat(chunks).toString();
}

function endOf(outcome: Outcome | undefined): string | undefined {
  return outcome !== undefined && 'error' in outcome ? outcome.error.code : outcome?.status;
}

test(
  'a server that lies: each upload ends as it should, printed in every format without harm',
  slowTest,
  async () => {
    let calls = 0;
    // Who follows what it is told calls this one.
    const told = lies(await listening(() => (calls += 1)));
    const client = clientOf(`http://${await liar(() => told)}`);
    onTestFinished(() => client.close());
    const sources = told.map((_, index) =>
      memorySource(`${index}.png`, Buffer.from(`\x89PNG\r\n\x1a\nlie ${index}.`.padEnd(57), 'latin1')),
    );
    const broken: string[] = [];
    for (const [index, {name, ends, isEndless}] of told.entries()) {
      const timeoutMs = isEndless ? 400 : patienceMs;
      const [outcome] = await uploadEach(sources.slice(index, index + 1), client, {timeoutMs});
      if (endOf(outcome) !== ends) broken.push(`${name}: ${endOf(outcome)}, not ${ends}`);
      for (const format of formatNames) {
        const text = await printed(outcome as Outcome, format);
        const badLines = [...runnerCommands(text), ...(/json/.test(format) ? notJson(text) : [])];
        if (rawControl.test(text) || badLines.length > 0) broken.push(`${name}, printed as ${format}`);
      }
    }
    expect(broken).toEqual([]);
    expect(calls).toBe(0);
  },
);
