// The end of `.ci/run`: node .ci/summary.js PASSED_STEPS DIRECTORY [FAILED_STEP...]
// Prints what failed, by name, and counts the steps and the tests of all reports in the directory.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

const [passedSteps, directory, ...failedSteps] = process.argv.slice(2);
let passed = Number(passedSteps);
let failed = failedSteps.length;
for (const step of failedSteps) console.log(`!! step failed: ${step}`);
for (const name of readdirSync(directory).filter(name => name.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(directory, name), 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  for (const {name: file, message, assertionResults} of report.testResults) {
    if (message) console.log(`!! ${file}: ${firstLine(message)}`);
    for (const {status, fullName, failureMessages} of assertionResults) {
      if (status === 'failed') console.log(`!! ${file}: ${fullName}: ${firstLine(failureMessages[0])}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function firstLine(text = '') {
  return text.split('\n', 1)[0];
}
