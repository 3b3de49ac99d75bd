import { expect, it } from 'vitest';
import { withServer } from '../with-server.js';
import { expectedCash } from './expected-cash.js';
import { holdToTheEnd } from './hold.js';

it('a future ends with the cash that the recorded files imply, to the cent, after every settlement', async () => {
  const result = await withServer({ REPLAY_PATH: 'samples/options-and-futures' }, ({ baseUrl, token }) =>
    holdToTheEnd(baseUrl, token),
  );
  const expected = Object.entries(expectedCash()).map(([name, text]) => [name, Number(text)]);
  expect(result).toEqual(Object.fromEntries(expected));
}, 60_000);
