import {once} from 'node:events';
import {createServer, request as httpRequest, type OutgoingHttpHeaders} from 'node:http';
import type {AddressInfo} from 'node:net';
import {fileURLToPath} from 'node:url';
import express, {type ErrorRequestHandler, type Express} from 'express';
import {middleware} from 'express-openapi-validator';
import type {OpenApiValidatorOpts} from 'express-openapi-validator/dist/framework/types.js';
import {onTestFinished} from 'vitest';

/** The service interface as it was given to us. */
export const contractFile = fileURLToPath(new URL('openapi.yaml', import.meta.url));

/** What the validator found wrong: the status that it stands for, and a sentence. */
export interface Complaint {
  status: number;
  message: string;
}

/** To compile the contract takes a tenth of a second: once for each set of options. */
const validators = new Map<string, ReturnType<typeof middleware>>();

function validatorWith(options: Omit<OpenApiValidatorOpts, 'apiSpec'>): ReturnType<typeof middleware> {
  const name = JSON.stringify(options);
  const validator = validators.get(name) ?? middleware({apiSpec: contractFile, ...options});
  validators.set(name, validator);
  return validator;
}

/** An express application behind a validator of the contract; `complaints` is empty while everything keeps to it. */
export async function validatedApp(
  options: Omit<OpenApiValidatorOpts, 'apiSpec'>,
  handlers: (app: Express) => void,
): Promise<{url: string; complaints: Complaint[]}> {
  const complaints: Complaint[] = [];
  const app = express();
  app.use('/graphql', express.json({type: ['application/json']}));
  app.use(validatorWith(options));
  handlers(app);
  const complain: ErrorRequestHandler = (error, _request, response, _next) => {
    complaints.push({status: error.status ?? 500, message: error.message});
    response.status(error.status ?? 500).json({code: error.status ?? 500, message: error.message});
  };
  app.use(complain);
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, complaints};
}

export interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Sends one request as it is, without fetch's opinions on headers. */
export async function send(
  url: string,
  method: string,
  headers: OutgoingHttpHeaders,
  body: Buffer | string,
): Promise<Answer> {
  const request = httpRequest(url, {method, headers, agent: false});
  // A service that refuses early may close before the whole body is sent; the answer counts.
  request.on('error', () => {});
  request.end(body);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode,
    contentType: response.headers['content-type'] ?? '',
    body: Buffer.concat(chunks).toString(),
  };
}
