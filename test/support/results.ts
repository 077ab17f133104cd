import {errorFields} from '../../src/cli/output/report.ts';
import type {UploadResult} from '../../src/index.ts';
import {checkJsonLine} from './schemas.ts';

/** The results of an iteration, and what it rejected with; throws if one has other fields than `--ndjson` prints of it. */
export async function settled(
  iteration: AsyncIterable<UploadResult>,
): Promise<{results: UploadResult[]; thrown: unknown}> {
  const results: UploadResult[] = [];
  let thrown: unknown;
  try {
    for await (const result of iteration) results.push(result);
  } catch (error) {
    thrown = error;
  }
  for (const result of results) checkResult(result);
  return {results, thrown};
}

/** The results of an iteration that does not reject. */
export async function collect(iteration: AsyncIterable<UploadResult>): Promise<UploadResult[]> {
  const {results, thrown} = await settled(iteration);
  if (thrown !== undefined) throw thrown;
  return results;
}

function checkResult(result: UploadResult): void {
  const {file, position, isOnce, nameBytes, dimensions, ...others} = result;
  const {error, unrecorded, json, ...fields} = {
    ...{error: undefined, unrecorded: undefined, json: undefined},
    ...others,
  };
  const line = {
    ...{file, ...fields, error: error && errorFields(error)},
    ...(json !== undefined && {record: JSON.parse(json)}),
  };
  checkJsonLine('upload', JSON.stringify(line));
}
