// Runs `npm test` and keeps the counts: node .ci/test.js REPORT.json [FILE...]
// Files with failures run once more, on their own: a test that only holds on an idle machine is a fault of the test, which is printed
// by name, and not one of the change that CI looks at. With many such files, or an error outside of tests, there is no second run.
import {spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {relative} from 'node:path';

const mostFiles = 4;
const [report, ...files] = process.argv.slice(2);

const first = run(report, files);
const failedFiles = first.results.testResults
  .filter(({status}) => status === 'failed')
  .map(({name}) => relative('', name));
if (first.status === 0 || failedFiles.length === 0 || failedFiles.length > mostFiles) {
  process.exit(first.status);
}

console.log(`== again, on their own: ${failedFiles.join(' ')}`);
const second = run(`${report}.again`, [...failedFiles, '--maxWorkers=1']);
const stillFailing = namesOfFailures(second);
const recovered = namesOfFailures(first).filter(name => !stillFailing.includes(name));
for (const name of recovered) console.log(`!! failed among others, passed on its own: ${name}`);
const {numPassedTests, numFailedTests} = first.results;
const counts = {
  numPassedTests: numPassedTests + recovered.length,
  numFailedTests: numFailedTests - recovered.length,
  testResults: second.results.testResults,
};
writeFileSync(report, JSON.stringify(counts));
process.exit(second.status);

function run(output, parameters) {
  const {status} = spawnSync(
    'npm',
    ['test', '--', '--reporter=default', '--reporter=json', `--outputFile=${output}`, ...parameters],
    {stdio: 'inherit'},
  );
  return {status: status ?? 1, results: JSON.parse(readFileSync(output, 'utf8'))};
}

function namesOfFailures({results}) {
  return results.testResults.flatMap(({assertionResults}) =>
    assertionResults.filter(({status}) => status === 'failed').map(({fullName}) => fullName),
  );
}
