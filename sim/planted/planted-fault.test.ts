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
      4,
      /was acknowledged and|answered 404|stream|ledger/,
    ],
    ['a stored answer that is lost', forgottenAnswer, 4, /the repeated request answered|was refused/],
    [
      'rows of history that were not written',
      skippedHistoryRow,
      4,
      // Lists are refused for as long as missing rows are made again.
      /the journal has|was acknowledged and is "nothing"|answered 503/,
    ],
    // The stream is compared after the last kill: further kills before that find nothing more.
    ['a stream event that was not sent', droppedStreamEvent, 1, /of the order stream was/],
    ['an intact journal without its last records', lostTail(), 4, /was acknowledged and/],
  ])('%s', async (_, planted, kills, said) => {
    const { problems } = await crash({
      kills,
      seed: 7,
      lanes: 1,
      traders: 4,
      // A slow machine has sent few stream events by the one kill.
      loadMs: planted === droppedStreamEvent ? 1_500 : 250,
      planted,
      server,
    });
    expect(problems.join('\n')).toMatch(said);
  });
});
