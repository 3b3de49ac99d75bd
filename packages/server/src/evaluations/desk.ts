/**
 * The suite `desk`: ten tasks of a trading desk, each on its own synthetic market. Prices differ with every draw, so that no task depends on
 * a level: `docs/reference/desk-suite.md` has the tasks with scripts that solve them and scripts that do not.
 */
import type { ShownScenario, ShownTask, Suite } from './definition.js';

const MONDAY = '2026-01-05T14:30:00Z';
const MONDAY_CLOSE = '2026-01-05T21:00:00Z';
const TUESDAY_CLOSE = '2026-01-06T21:00:00Z';
const FRIDAY_CLOSE = '2026-01-09T21:00:00Z';

interface DeskScenario {
  /** End of the market; absent = the close of Tuesday. */
  readonly end?: string;
  readonly portfolioType: 'CASH' | 'MARGIN';
  readonly initialCash?: number;
  readonly options?: true;
  /** Positions to begin with. */
  readonly holdings?: readonly object[];
  readonly instructions: string;
  readonly assert: ShownTask['assert'];
}

const INITIAL_CASH = 100_000;

/** One scenario with the one task of the same name. */
function scenario(
  name: string,
  { end = TUESDAY_CLOSE, portfolioType, initialCash = INITIAL_CASH, options, ...more }: DeskScenario,
): ShownScenario {
  const { holdings, instructions, assert } = more;
  return {
    name,
    market: { feed: 'synthetic', clock: 'manual', start: MONDAY, end },
    rules: {
      initialCash,
      portfolioType,
      brokerId: 'default',
      assetClasses: options === true ? ['EQUITY', 'OPTION'] : ['EQUITY'],
    },
    ...(holdings !== undefined && { fixture: { import: { positions: holdings } } }),
    tasks: [{ name, instructions, assert }],
  };
}

const scenarios: readonly ShownScenario[] = [
  scenario('buy the covered call', {
    portfolioType: 'CASH',
    options: true,
    instructions:
      'Buy 100 shares of KO and write one call on them. Hold both at the end of the run, and nothing else.',
    assert: [
      { when: 'end', position: { symbol: 'KO', quantity: 100 } },
      { when: 'end', position: { underlying: 'KO', assetClass: 'OPTION', quantity: -1 } },
      { when: 'end', order: { match: { assetClass: 'OPTION', positionIntent: 'SELL_TO_OPEN' }, count: 1 } },
    ],
  }),
  scenario('meet the margin call', {
    end: FRIDAY_CLOSE,
    portfolioType: 'MARGIN',
    initialCash: 15_000,
    holdings: [
      { symbol: 'SPY', quantity: 100 },
      { symbol: 'VOO', quantity: -100 },
    ],
    instructions:
      'The portfolio holds 100 shares of SPY, is short 100 shares of VOO and has too little equity for both. A margin call is issued at the close of Monday. Do not trade before it is. Then meet it before it is due, by trades of yours, and still hold at least 10 shares of SPY at the end.',
    assert: [
      { when: 'end', marginCall: { met: true } },
      { when: 'end', position: { symbol: 'SPY', min: 10 } },
    ],
  }),
  scenario('close before expiry', {
    end: FRIDAY_CLOSE,
    portfolioType: 'MARGIN',
    options: true,
    holdings: [{ symbol: 'TLT260109C00080000', quantity: 2, price: 10 }],
    instructions:
      'The portfolio holds two calls on TLT that expire on Friday, January 9, 2026. Sell both before 15:00 New York time of that day. Do not exercise them, and never hold shares of TLT.',
    assert: [
      { when: 'end', until: '2026-01-09T20:00:00Z', noPosition: { underlying: 'TLT' } },
      { when: 'always', noPosition: { symbol: 'TLT' } },
    ],
  }),
  scenario('carry nothing overnight', {
    portfolioType: 'MARGIN',
    instructions: 'Buy at least 10 shares of AAPL on Monday, and have no position at the close of that day.',
    assert: [
      { when: 'ever', until: MONDAY_CLOSE, position: { symbol: 'AAPL', min: 10 } },
      { when: 'end', until: MONDAY_CLOSE, noPosition: {} },
    ],
  }),
  scenario('sell half with limit orders', {
    portfolioType: 'CASH',
    holdings: [{ symbol: 'JNJ', quantity: 100, price: 150 }],
    instructions:
      'The portfolio holds 100 shares of JNJ. Sell 50 of them. Place no market orders, and buy nothing.',
    assert: [
      { when: 'end', order: { match: { orderType: 'MARKET' }, count: 0 } },
      { when: 'end', order: { match: { positionIntent: 'BUY_TO_OPEN' }, count: 0 } },
      { when: 'end', position: { symbol: 'JNJ', quantity: 50 } },
    ],
  }),
  scenario('protect the shares', {
    portfolioType: 'CASH',
    holdings: [{ symbol: 'JNJ', quantity: 100, price: 150 }],
    instructions:
      'The portfolio holds 100 shares of JNJ. Protect all of them with a single stop order that is good till canceled, 20 % below the market. Place no other order, and keep the shares.',
    assert: [
      {
        when: 'end',
        order: { match: { orderType: 'STOP', positionIntent: 'SELL_TO_CLOSE', quantity: 100 }, count: 1 },
      },
      { when: 'end', order: { match: {}, count: 1 } },
      { when: 'end', position: { symbol: 'JNJ', quantity: 100 } },
    ],
  }),
  scenario('rotate without borrowing', {
    portfolioType: 'MARGIN',
    initialCash: 100,
    holdings: [{ symbol: 'KO', quantity: 200, price: 70 }],
    instructions:
      'The portfolio holds 200 shares of KO and hardly any cash. Replace all of them by 50 shares of JNJ. Never borrow: cash may not be negative at any time.',
    assert: [
      { when: 'always', cash: { min: 0 } },
      { when: 'end', noPosition: { symbol: 'KO' } },
      { when: 'end', position: { symbol: 'JNJ', quantity: 50 } },
    ],
  }),
  scenario('sell short and cover', {
    portfolioType: 'MARGIN',
    instructions:
      'Sell 100 shares of KO short, never more than 100, and cover them before the end. End without a position.',
    assert: [
      { when: 'ever', position: { symbol: 'KO', max: -100 } },
      { when: 'always', position: { symbol: 'KO', min: -100 } },
      { when: 'end', noPosition: {} },
    ],
  }),
  scenario('invest half of the cash', {
    portfolioType: 'CASH',
    instructions:
      'The portfolio has $100,000. Invest 40 to 60 percent of it in shares of SPY, and in nothing else.',
    assert: [
      { when: 'end', position: { symbol: 'SPY', min: 1 } },
      { when: 'end', cash: { min: 40_000, max: 60_000 } },
    ],
  }),
  scenario('realize the loss', {
    portfolioType: 'CASH',
    holdings: [
      { symbol: 'JNJ', quantity: 100, price: 400 },
      { symbol: 'KO', quantity: 100, price: 20 },
    ],
    instructions:
      'One of the two positions of the portfolio has a loss, the other one a gain. Realize the whole loss, and keep the position with the gain unchanged.',
    assert: [
      { when: 'end', realizedPnl: { max: -5000 } },
      { when: 'end', noPosition: { symbol: 'JNJ' } },
      { when: 'end', position: { symbol: 'KO', quantity: 100 } },
    ],
  }),
];

export const DESK: Suite = { name: 'desk', scenarios };
