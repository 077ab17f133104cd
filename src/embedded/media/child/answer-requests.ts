import {createInterface} from 'node:readline';
import {systemHost} from '../../../host.ts';
import {parseObject} from '../../../lib/json.ts';
import {hasShape, type Shape} from '../../../lib/shape.ts';

/**
 * The other end of a MediaChild: reads one request per line and writes one response per line in the same order, until standard input
 * ends; `onEnd` is called then, even if a response is still awaited. A request that is none is answered with an empty object.
 */
export async function answerRequests<Request extends object>(
  shape: Shape<Request>,
  answer: (request: Request) => Promise<object>,
  onEnd = () => {},
): Promise<void> {
  const {stdin, stdout, onEndSignal} = systemHost();
  // A terminal sends Ctrl-C to this process too; the service may still need it for uploads that have arrived.
  onEndSignal(() => {});
  const lines = createInterface({input: stdin});
  lines.once('close', onEnd);
  const respond = (response: object) => stdout.write(`${JSON.stringify(response)}\n`);
  respond({});
  for await (const line of lines) {
    const request = parseObject(line) ?? {};
    respond(hasShape(request, shape) ? await answer(request) : {});
  }
}
