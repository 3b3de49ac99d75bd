import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calendarById } from './calendar/calendars.js';
import { saveState } from './saved-state.js';
import type { SavedState } from './saved-state.js';
import { stateHash } from './state-hash.js';
import { Adventure, adventureRules, anyAdventure, assertPlain, recovered } from './testing/adventure.js';
import type { AdventureStep } from './testing/adventure.js';
import type { TestMarket } from './testing/market.js';

/*
 * The whole core against an auditor (testing/auditor.ts), on random adventures: any command with any figures the API accepts, markets that
 * jump, cross and vanish, time that passes in minutes or months. `SANDPIT_RUNS` sets the number of runs (`npm run soak`: thousands, with
 * another seed each time); a failing run is shrunk to a short one and printed with its seed.
 */
const RUNS = Number(process.env['SANDPIT_RUNS'] ?? '120');
const settings = { numRuns: RUNS };

const placed = {
  kind: 'order',
  portfolio: 0,
  symbol: 'AAPL',
  aim: 'BUY_TO_OPEN',
  quantity: 1_000_000,
  tif: 'DAY',
  distance: 0,
  latency: 0,
  special: false,
} as const;
const contract = {
  kind: 'contract-order',
  portfolio: 0,
  type: 'MARKET',
  contracts: 1,
  tif: 'DAY',
  distance: 0,
  latency: 0,
  bracket: false,
} as const;
const spread = {
  kind: 'package',
  portfolio: 0,
  strategy: 'VERTICAL_SPREAD',
  isPut: false,
  sells: false,
  rolls: false,
  units: 1,
  totals: false,
  distance: undefined,
  tif: 'DAY',
} as const;
/** Records with their quotes sorted: live and recovered runs read them in different orders. */
const inOrder = (journal: TestMarket['journal']) =>
  journal.map(({ quotes, ...record }) => ({
    ...record,
    quotes: [...quotes].sort((a, b) => (a.symbol < b.symbol ? -1 : 1)),
  }));

/** Exits of a bracket become active in hours without other orders of the recovered book. */
const exitsAfterARecovery: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 2, size: 100, pushed: true },
  { ...placed, type: 'MARKET', extended: false, bracket: false },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 0, size: 0, pushed: false },
  { ...placed, type: 'LIMIT', extended: true, bracket: true },
  { ...placed, type: 'MARKET', extended: false, bracket: false },
];

/** A script fills the entry of a bracket at the opening: its exits are matched in the same record. */
const exitsOfAScript: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 2, size: 100, pushed: true },
  { kind: 'script', script: 4, times: 1, skip: 0 },
  { kind: 'next-open', minutes: 0 },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 0, size: 0, pushed: false },
  { ...placed, type: 'MARKET', extended: false, bracket: true },
  { kind: 'split', symbol: 'AAPL', inDays: 0, more: 7, old: 1 },
];

/** The feed repeats a quote that no decision has read when the reference price of a band may change again. */
const quoteRepeatedInABand: AdventureStep[] = [
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 0, size: 0, pushed: false },
  { kind: 'next-open', minutes: 1 },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: 0, spread: 0, size: 0, pushed: false },
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: -200, spread: 0, size: 0, pushed: false },
  { kind: 'quote', symbol: 'AAPL', shape: 'ask-only', move: 0, spread: 0, size: 0, pushed: false },
  { kind: 'wait', minutes: 1 },
  { kind: 'close', portfolio: 0 },
];

/** A future is bought and closed at the instant of its settlement, after it. */
const closedAtItsSettlement: AdventureStep[] = [
  { kind: 'open', type: 'REG_T', model: 'ideal', broker: 'default', cash: 250_000 },
  { kind: 'chains' },
  { kind: 'next-end', minutes: 0 },
  { ...contract, contract: 40, aim: 'BUY_TO_OPEN' },
  { ...contract, contract: 0, aim: 'close' },
  { kind: 'wait', minutes: 1440 },
];

/** Options on an index wait for its opening when the server starts again, and the feed delivers an older quote. */
const waitingForAnOpening: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'chains' },
  { ...spread, underlying: 'SPX', expiration: 1, strike: 0 },
  {
    kind: 'chain',
    underlying: 'SPX',
    expiration: 0,
    premium: 0,
    spread: 0,
    size: 0,
    odd: 1,
    pushed: false,
  },
  { kind: 'next-end', minutes: 1 },
  { kind: 'next-end', minutes: 0 },
  { kind: 'wait', minutes: 1440 },
];

/** The long call that covers a short one is exercised for cash. */
const exercisedCover: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'chains' },
  { ...spread, underlying: 'XSP', expiration: 0, strike: 3 },
  { kind: 'next-end', minutes: -1 },
  { kind: 'exercise', portfolio: 0, contract: 3, contracts: undefined, instructs: false },
];

/** A portfolio is reset that holds a billion shares at a price that has jumped. */
const resetBeyondAllFigures: AdventureStep[] = [
  { kind: 'quote', symbol: 'AAPL', shape: 'both', move: -1, spread: 0, size: 0, pushed: false },
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  {
    kind: 'import',
    portfolio: 0,
    cents: 0,
    lots: [{ symbol: 'AAPL', quantity: 999_999_999_000_000, daysAgo: 0 }],
  },
  { kind: 'quote', symbol: 'AAPL', shape: 'jump', move: 1, spread: 0, size: 0, pushed: false },
  { kind: 'reset', portfolio: 0 },
];

/** A script fills a part of an order at a price far beyond its reservation. */
const scriptBeyondTheReservation: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'script', script: 17, times: 1, skip: 0 },
  { kind: 'quote', symbol: 'AAPL', shape: 'jump', move: 0, spread: 0, size: 0, pushed: false },
  { kind: 'quote', symbol: 'AAPL', shape: 'bid-only', move: 0, spread: 0, size: 0, pushed: false },
  {
    ...placed,
    type: 'TRAILING_STOP',
    quantity: 8_000_000,
    extended: false,
    bracket: false,
  },
];

/** An option is bought at the instant at which its series ends, next to holdings on another underlying. */
const boughtAsItEnds: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'ideal', broker: 'default', cash: 100_000 },
  { kind: 'open', type: 'REG_T', model: 'ideal', broker: 'default', cash: 250_000 },
  { kind: 'open', type: 'PORTFOLIO', model: 'ideal', broker: 'default', cash: 250_000 },
  { kind: 'chains' },
  ...[0, 1, 2].map(
    (portfolio) =>
      ({
        ...placed,
        portfolio,
        type: 'MARKET',
        quantity: 250_000_000,
        extended: false,
        bracket: false,
      }) as const,
  ),
  { kind: 'next-end', minutes: -1 },
  {
    kind: 'contract-order',
    portfolio: 0,
    contract: 16,
    type: 'MARKET',
    aim: 'BUY_TO_OPEN',
    contracts: 1,
    tif: 'IOC',
    distance: 0,
    latency: 60_000,
    bracket: false,
  },
  { kind: 'next-open', minutes: -450 },
  {
    kind: 'contract-order',
    portfolio: 0,
    contract: 0,
    type: 'MARKET',
    aim: 'BUY_TO_OPEN',
    contracts: 1,
    tif: 'DAY',
    distance: 0,
    latency: 0,
    bracket: false,
  },
];

/** A liquidation of options waits for a quote when the shares are split. */
const liquidatedThroughASplit: AdventureStep[] = [
  { kind: 'open', type: 'CASH', model: 'strict', broker: 'default', cash: 100_000 },
  { kind: 'open', type: 'REG_T', model: 'strict', broker: 'default', cash: 250_000 },
  { kind: 'chains' },
  { ...placed, portfolio: 1, type: 'MARKET', quantity: 250_000_000, extended: false, bracket: false },
  { kind: 'quote', symbol: 'AAPL', shape: 'jump', move: 0, spread: 0, size: 0, pushed: false },
  {
    kind: 'package',
    portfolio: 1,
    underlying: 'AAPL',
    strategy: 'CALENDAR_SPREAD',
    expiration: 0,
    strike: 0,
    isPut: true,
    sells: false,
    rolls: false,
    units: 100,
    totals: false,
    distance: undefined,
    tif: 'DAY',
  },
  {
    kind: 'chain',
    underlying: 'AAPL',
    expiration: 1,
    premium: 0,
    spread: 0,
    size: 3,
    odd: 0,
    pushed: false,
  },
  { kind: 'next-end', minutes: -400 },
  { kind: 'split', symbol: 'AAPL', inDays: 1, more: 2, old: 1 },
  { ...placed, type: 'MARKET', quantity: 1, extended: false, bracket: false },
  { kind: 'wait', minutes: 1440 },
];

describe.each(['XNYS', 'always-open'] as const)('%s', { timeout: Math.max(120_000, RUNS * 600) }, (id) => {
  const rules = adventureRules(calendarById(id));

  it("the books equal the auditor's after every step", () => {
    fc.assert(
      fc.property(anyAdventure, (steps) => {
        const adventure = new Adventure(rules);
        for (const step of steps) adventure.take(step);
        const saved = saveState(adventure.market.brokerage.state);
        assertPlain(saved, 'state');
        expect(JSON.parse(JSON.stringify(saved))).toEqual(saved);
      }),
      {
        ...settings,
        examples: [
          [boughtAsItEnds],
          [exercisedCover],
          [resetBeyondAllFigures],
          [liquidatedThroughASplit],
          [scriptBeyondTheReservation],
        ],
      },
    );
  });

  it('does the same again in another brokerage', () => {
    fc.assert(
      fc.property(anyAdventure, (steps) => {
        const [one, other] = [
          new Adventure(rules, { audited: false }),
          new Adventure(rules, { audited: false }),
        ];
        for (const step of steps) one.take(step);
        for (const step of steps) other.take(step);
        expect(inOrder(other.market.journal)).toEqual(inOrder(one.market.journal));
        expect(stateHash(other.market.brokerage.state)).toBe(stateHash(one.market.brokerage.state));
      }),
      { ...settings, numRuns: Math.ceil(RUNS / 4) },
    );
  });

  it('continues unchanged after a recovery', () => {
    fc.assert(
      fc.property(anyAdventure, fc.nat(), fc.nat(), (steps, a, b) => {
        const savedAfter = a % steps.length;
        const stopsAfter = savedAfter + (b % (steps.length - savedAfter));
        const one = new Adventure(rules, { audited: false });
        let saved = saveState(one.market.brokerage.state);
        let text = JSON.stringify(saved);
        let records = 0;
        steps.slice(0, stopsAfter).forEach((step, i) => {
          one.take(step);
          if (i !== savedAfter) return;
          saved = saveState(one.market.brokerage.state);
          text = JSON.stringify(saved);
          records = one.market.journal.length;
        });
        // Runs the due timers first, so that the recovery causes no new events.
        one.market.advanceMs(0);
        const behind = one.market.journal.slice(records);
        const brokerage = recovered(rules, JSON.parse(text) as SavedState, behind);
        expect(stateHash(brokerage.state)).toBe(stateHash(one.market.brokerage.state));

        const other = one.continued(brokerage);
        // Quotes that no decision has read come from the feed again, all at once: multi-leg orders need both legs.
        const quotes = [...one.market.brokerage.state.books.values()].flatMap(({ quote, quoteRecorded }) =>
          quote === undefined || quoteRecorded ? [] : [quote],
        );
        other.market.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false });
        expect(other.events()).toEqual([]);
        const before = one.market.journal.length;
        for (const step of steps.slice(stopsAfter)) {
          one.take(step);
          other.take(step);
        }
        expect(other.events()).toEqual(one.events(before));
        const hash = stateHash(one.market.brokerage.state);
        expect(stateHash(other.market.brokerage.state)).toBe(hash);
        // A saved state shares lots with brokerages: neither the one that it came from nor one that it gave changes it.
        recovered(rules, saved, one.market.journal.slice(records));
        expect(JSON.stringify(saved)).toBe(text);
        expect(stateHash(one.market.brokerage.state)).toBe(hash);
      }),
      {
        ...settings,
        numRuns: Math.ceil(RUNS / 2),
        examples: [
          [exitsAfterARecovery, 2, 1],
          [exitsOfAScript, 2, 4],
          [quoteRepeatedInABand, 1, 5],
          [closedAtItsSettlement, 0, 5],
          [waitingForAnOpening, 6, 0],
        ],
      },
    );
  });
});
