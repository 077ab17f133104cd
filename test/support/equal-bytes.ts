import {expect} from 'vitest';

// vitest compares buffers byte by byte, as objects: a small picture takes it a tenth of a second.
expect.addEqualityTesters([
  (one, other) => (Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined),
]);
