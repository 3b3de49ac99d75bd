import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crash, SHORT_CHECKPOINTS } from '../crash.js';
import { JoinedServer } from '../joined-server.js';
import {
  acknowledgedTooEarly,
  droppedStreamEvent,
  forgottenAnswer,
  lostTail,
  PATCHES,
  skippedHistoryRow,
} from './planted-fault.js';

describe('The crash rig finds', { timeout: 120_000 }, () => {
  let server: JoinedServer;
  beforeAll(async () => {
    server = await JoinedServer.make([...SHORT_CHECKPOINTS, ...PATCHES]);
  }, 60_000);
  afterAll(() => server.remove());

  it.each([
    [
      'an acknowledgement sent before the commit',
      acknowledgedTooEarly,
      /was acknowledged and|answered 404|stream|ledger/,
    ],
    ['a stored answer that is lost', forgottenAnswer, /the repeated request answered|was refused/],
    [
      'rows of history that were not written',
      skippedHistoryRow,
      /the journal has|was acknowledged and is "nothing"/,
    ],
    ['a stream event that was not sent', droppedStreamEvent, /of the order stream was/],
    ['an intact journal without its last records', lostTail(), /was acknowledged and/],
  ])('%s', async (_, planted, said) => {
    const { problems } = await crash({
      kills: 4,
      seed: 7,
      lanes: 1,
      traders: 4,
      loadMs: 250,
      planted,
      server,
    });
    expect(problems.join('\n')).toMatch(said);
  });
});
