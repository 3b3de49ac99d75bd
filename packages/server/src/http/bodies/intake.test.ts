import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { Intake } from './intake.js';

it('Intake: bodies beyond a MiB in a turn wait, and go on in the order in which they began to wait', async () => {
  const intake = new Intake();
  const bodies = Array.from({ length: 40 }, () => new Readable({ read: () => undefined }));
  for (const body of bodies) {
    body.on('data', () => undefined);
    intake.count(body, 65_536);
  }
  const waiting = (): number => bodies.filter((body) => body.isPaused()).length;
  expect(waiting()).toBe(24);
  expect(bodies[15]?.isPaused()).toBe(false);
  await new Promise(setImmediate);
  expect(waiting()).toBe(8);
  expect(bodies[31]?.isPaused()).toBe(false);
  await new Promise(setImmediate);
  expect(waiting()).toBe(0);
});
