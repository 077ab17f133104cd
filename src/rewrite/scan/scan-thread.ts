import {parentPort} from 'node:worker_threads';
import {answerTo, type ScanRequest} from './scan.ts';

parentPort?.on('message', (request: ScanRequest) => parentPort?.postMessage(answerTo(request)));
