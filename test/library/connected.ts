import {onTestFinished} from 'vitest';
import {MediaClient} from '../../src/index.ts';
import {embeddedService} from '../support/embedded.ts';
import {fixture} from '../support/media.ts';

export const photo = fixture('photo.png');
export const clip = fixture('clip.mp4');

/** A client of a service that ends with the test. */
export async function connected() {
  const {service, key} = await embeddedService();
  const client = new MediaClient({baseUrl: service.url, apiKey: key});
  onTestFinished(() => client.close());
  return {service, client};
}

/** Inputs that count how many of them were taken, and know whether they were closed. */
export function counted<Input>(inputs: readonly Input[]) {
  const count = {
    taken: 0,
    isClosed: false,
    *[Symbol.iterator]() {
      try {
        for (const input of inputs) {
          count.taken += 1;
          yield input;
        }
      } finally {
        count.isClosed = true;
      }
    },
  };
  return count;
}
