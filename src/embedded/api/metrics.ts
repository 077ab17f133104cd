import {Counter, collectDefaultMetrics, Gauge, Histogram, Registry} from 'prom-client';
import {operationOf} from '../exchange/http-exchange.ts';
import type {RequestEntry} from './context.ts';

/** Starts to count; `countRecords` is asked whenever the metrics are shown. */
export function startMetrics(countRecords: () => Promise<number>) {
  const registry = new Registry();
  collectDefaultMetrics({register: registry});
  const labelNames = ['operation', 'status'] as const;
  const requests = new Histogram({
    name: 'media_request_duration_seconds',
    help: 'How long requests took until their response was sent.',
    labelNames,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers: [registry],
  });
  const received = new Counter({
    name: 'media_body_bytes_total',
    help: 'Bytes of request bodies, or of response bodies to requests without one.',
    labelNames,
    registers: [registry],
  });
  const faults = new Counter({
    name: 'media_faults_total',
    help: 'Faults that were applied on request.',
    registers: [registry],
  });
  new Gauge({
    name: 'media_records',
    help: 'Media that are stored.',
    registers: [registry],
    async collect() {
      this.set(await countRecords());
    },
  });
  return {
    /** Adds a request that has ended to the metrics. */
    count({path, status, bytes, elapsedMs, faults: applied = []}: RequestEntry): void {
      const labels = {operation: operationOf(path), status: String(status)};
      requests.observe(labels, elapsedMs / 1000);
      received.inc(labels, bytes);
      faults.inc(applied.length);
    },
    show: async () => ({text: await registry.metrics(), contentType: registry.contentType}),
  };
}
