import type { OutcomeEffect } from '@sandpit/protocol';
import { sandbox } from '@sandpit/client/testing';
import { expect, it } from 'vitest';

/*
 * The magic orders of other sandboxes as scripted outcomes (docs/how-to/sandbox-orders.md). A rule for each quantity of HL gives a simulation the
 * behavior that a test suite written for DriveWealth's sandbox expects.
 */

const pieces = (count: number, quantity: number, everySeconds = 0) =>
  Array.from({ length: count }, (_, index) => ({
    quantity,
    ...(everySeconds > 0 && index > 0 && { after: `PT${index * everySeconds}S` }),
  }));

/** Outcome of an order to buy a number of HL at the market: fills, then status and reason. */
const DRIVEWEALTH: readonly (readonly [number, string, OutcomeEffect, number, string])[] = [
  [176, 'half, the rest canceled', { fill: [{ percent: 50 }], rest: 'cancel' }, 1, 'CANCELED SCRIPTED'],
  [
    177,
    'two fills at two prices',
    {
      fill: [
        { percent: 50, price: 20 },
        { percent: 50, price: 20.05 },
      ],
    },
    2,
    'FILLED',
  ],
  [178, 'ten shares at a time', { fill: pieces(18, 10) }, 18, 'FILLED'],
  [179, 'twenty shares each second', { fill: pieces(9, 20, 1) }, 9, 'FILLED'],
  [1019, 'filled whole', { fill: [{ percent: 100 }] }, 1, 'FILLED'],
  [1039, 'one share at a time', { fill: pieces(1039, 1) }, 1039, 'FILLED'],
  [1049, 'a hundred shares at a time', { fill: pieces(11, 100) }, 11, 'FILLED'],
  [1059, 'refused by the venue', { rejectLater: { code: 'BROKER_RESTRICTION' } }, 0, 'REJECTED'],
  [1069, 'a part, the rest canceled', { fill: [{ percent: 30 }], rest: 'cancel' }, 1, 'CANCELED SCRIPTED'],
  [1079, 'nothing, canceled', { fill: [], rest: 'cancel' }, 0, 'CANCELED SCRIPTED'],
  [1089, 'nothing, open until it is canceled', { hold: {} }, 0, 'CANCELED USER'],
  [5089, 'nothing, open until a cancel request', { hold: {} }, 0, 'CANCELED USER'],
];

it.each(DRIVEWEALTH)('HL %i: %s', async (quantity, _what, outcome, fills, end) => {
  await using sim = await sandbox({ cash: 1_000_000 });
  await sim.quote('HL', 19.99, 20.01);
  await sim.script(outcome, { match: { symbol: 'HL', quantity, positionIntent: 'BUY_TO_OPEN' }, times: 0 });

  const order = await sim.portfolio.buy('HL', quantity);
  await sim.advance('PT10S');
  if ((await order.refresh()).status === 'ACTIVE') await order.cancel();

  const { status, cancelReason } = (await order.refresh()).data;
  expect([status, cancelReason].filter(Boolean).join(' ')).toBe(end);
  const { pagination } = await sim.client.call('listExecutions', { params: { orderId: order.id } });
  expect(pagination.total).toBe(fills);
});

const UPVEST: readonly (readonly [string, OutcomeEffect, number, string])[] = [
  ['successful execution', { fill: [{ percent: 100, price: 100 }] }, 1, 'FILLED'],
  [
    'successful execution in five parts',
    { fill: Array.from({ length: 5 }, () => ({ percent: 20, price: 100 })) },
    5,
    'FILLED',
  ],
  ['canceled while it is processed', { fill: [], rest: 'cancel' }, 0, 'CANCELED'],
];

it.each(UPVEST)('a mock instrument of Upvest: %s', async (_what, outcome, fills, end) => {
  await using sim = await sandbox({ cash: 10_000 });
  await sim.quote('AAPL', 99.99, 100.01);
  await sim.script(outcome, { match: { symbol: 'AAPL' }, times: 0 });

  const order = await sim.portfolio.buy('AAPL', 10);

  expect((await order.settled()).status).toBe(end);
  const { pagination } = await sim.client.call('listExecutions', { params: { orderId: order.id } });
  expect(pagination.total).toBe(fills);
});
