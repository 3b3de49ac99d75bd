/**
 * Time to compute a requirement under Reg T: the totals of a book, as orders and the watch need them, and the same line by line, as people
 * read them. Books are drawn from a seed: spreads, condors, straddles and stock as people hold them, with random legs added.
 *
 * Leaves out: the source of the marks, and all callers (gate, watch, HTTP).
 *
 *   npx tsc -b && npx tsx bench/margin.ts        BENCH_BOOKS
 */
import {
  amountsOf,
  Brokerage,
  calendarById,
  Instant,
  KnownInstruments,
  optionContract,
  parseOsi,
  plainEquity,
  Price,
  Quantity,
  regTRequirementOf,
  requirementOfHypothetical,
  TradingDate,
} from '@sandpit/core';
import type { Holding, HypotheticalBook, MarginBook, OptionLeg, Quote, RegTLeg } from '@sandpit/core';
import { quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { marketOrder, MONDAY_TEN, openPortfolio, rulesFor, submitOrder } from './orders.js';

const TODAY = TradingDate.of('2026-01-05');
const EXPIRATIONS = ['2026-01-16', '2026-02-20', '2026-06-19'].map((date) => TradingDate.of(date));
const DAY_MS = 86_400_000;
const U = 100;
const AT = Price.of(String(U));
const WARM_ROUNDS = 20;
const ROUNDS = 20;

/** A small generator: the same books in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function option(
  underlying: string,
  isCall: boolean,
  strike: number,
  expiry: number,
  count: number,
): OptionLeg {
  const expiration = EXPIRATIONS[expiry % EXPIRATIONS.length] ?? TODAY;
  const inTheMoney = Math.max(0, isCall ? U - strike : strike - U);
  const cents = Math.round(100 * inTheMoney + (500 * (1 + expiry)) / (1 + Math.abs(strike - U) / 5));
  return {
    kind: 'OPTION',
    symbol: `${underlying}${expiration.slice(2).replaceAll('-', '')}${isCall ? 'C' : 'P'}${String(strike * 1000).padStart(8, '0')}`,
    underlying,
    underlyingClass: 'EQUITY',
    right: isCall ? 'CALL' : 'PUT',
    strike: Price.of(String(strike)),
    expiration,
    settlesAt: Instant.ofMs(TradingDate.dayOf(expiration) * DAY_MS),
    style: 'AMERICAN',
    settlement: 'PHYSICAL',
    multiplier: 100,
    deliverable: 100,
    quantity: Quantity.of(count),
    price: Price.ofUnits(cents * 1_000_000),
    underlyingPrice: Price.of(String(U)),
    leverageFactor: 1,
  };
}

type Draw = (below: number) => number;

/** Strategies until there are so many series: no series twice. */
function strategies(draw: Draw, underlying: string, series: number): RegTLeg[] {
  const held = new Map<string, OptionLeg>();
  const add = (...legs: OptionLeg[]): void => {
    if (legs.some(({ symbol }) => held.has(symbol)) || held.size + legs.length > series) return;
    for (const leg of legs) held.set(leg.symbol, leg);
  };
  while (held.size < series) {
    const of = (isCall: boolean, strike: number, count: number, later = 0): OptionLeg =>
      option(underlying, isCall, strike, expiry + later, count);
    const expiry = draw(2);
    const n = 1 + draw(5);
    const low = 70 + draw(30);
    const high = 101 + draw(30);
    const left = series - held.size;
    switch (left < 2 ? 4 : left < 4 ? draw(4) : draw(6)) {
      case 0:
        add(of(true, high, -n), of(true, high + 5, n));
        break;
      case 1:
        add(of(false, low, -n), of(false, low - 5, n));
        break;
      case 2:
        add(of(true, high, -n), of(false, low, -n));
        break;
      case 3:
        add(of(true, low, -n), of(true, low, n, 1));
        break;
      case 4:
        add(of(draw(2) === 0, 70 + draw(60), draw(2) === 0 ? n : -n));
        break;
      default:
        add(of(false, low - 5, n), of(false, low, -n), of(true, high, -n), of(true, high + 5, n));
    }
  }
  return [...held.values()];
}

/** Any series, any quantity: unrealistic books, and the slowest to divide. */
function scattered(draw: Draw, underlying: string, series: number, expirations = 2): RegTLeg[] {
  const held = new Map<string, OptionLeg>();
  while (held.size < series) {
    const count = (1 + draw(5)) * (draw(2) === 0 ? 1 : -1);
    const leg = option(underlying, draw(2) === 0, 70 + draw(61), draw(expirations), count);
    held.set(leg.symbol, leg);
  }
  return [...held.values()];
}

const stock = (symbol: string, shares: number): RegTLeg => ({
  kind: 'STOCK',
  symbol,
  quantity: Quantity.of(shares),
  price: Price.of(String(U)),
  leverageFactor: 1,
});

const asOf = Instant.ofMs(TradingDate.dayOf(TODAY) * DAY_MS);
const house = { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 };

interface Timed {
  /** Microseconds, sorted. */
  readonly times: Float64Array;
  readonly approximate: number;
}

/** The first `warm` books are for the compiler; none is drawn twice, and large ones are not known from before. */
function time(books: readonly (readonly RegTLeg[])[], warm: number): Timed {
  const run = (legs: readonly RegTLeg[]): boolean => {
    const requirement = regTRequirementOf({ legs, house, asOf, date: TODAY });
    if ('refusals' in requirement) throw new Error(JSON.stringify(requirement.refusals));
    return requirement.groups.some(({ isApproximate }) => isApproximate);
  };
  for (const legs of books.slice(0, warm)) run(legs);
  let approximate = 0;
  const times = Float64Array.from(books.slice(warm), (legs) => {
    const began = performance.now();
    if (run(legs)) approximate++;
    return (performance.now() - began) * 1000;
  });
  return { times: times.sort(), approximate };
}

/** So many positions, stock and options on it in turn, of that many underlyings. */
function imagined(draw: Draw, positions: number, underlyings: number): HypotheticalBook {
  const held = new Map<string, Holding>();
  const names = Array.from({ length: underlyings }, (_, i) => `U${String.fromCharCode(65 + (i % 26))}${i}`);
  names.forEach((name) =>
    held.set(name, { instrument: plainEquity(name), quantity: Quantity.of(100), mark: Price.of(String(U)) }),
  );
  while (held.size < positions) {
    const name = names[held.size % underlyings] ?? '';
    const leg = option(name, draw(2) === 0, 70 + draw(61), draw(3), (1 + draw(5)) * (draw(2) === 0 ? 1 : -1));
    const named = parseOsi(leg.symbol);
    const instrument = named && optionContract(named, {}, () => undefined);
    if (instrument === undefined) throw new Error(`${leg.symbol} is no option`);
    held.set(instrument.symbol, { instrument, quantity: leg.quantity, mark: leg.price ?? Price.of('1') });
  }
  return {
    marginType: 'PORTFOLIO',
    engine: 'TIMS',
    house,
    asOf,
    calendar: 'XNYS',
    holdings: [...held.values()],
    underlyings: new Map(
      names.map((name) => [name, { price: Price.of(String(U)), leverageFactor: 1, dividends: [] }]),
    ),
    volatilities: new Map(),
    rate: 0.04,
  };
}

function holdingOf(leg: RegTLeg): Holding {
  const named = parseOsi(leg.symbol);
  const instrument =
    leg.kind === 'STOCK' ? plainEquity(leg.symbol) : named && optionContract(named, {}, () => undefined);
  if (instrument === undefined) throw new Error(`${leg.symbol} is no option`);
  return { instrument, quantity: leg.quantity, mark: leg.price ?? Price.of('1') };
}

/** The sums alone, as the gate and the watch ask for them: of books that were seen before, at other prices each time. */
function sums(measure: string, aim: number, draw: (draw: Draw) => RegTLeg[], books: number): Row {
  const next = chance(7);
  const all = Array.from({ length: books }, () => draw(next).map(holdingOf));
  const calendar = calendarById('XNYS');
  const at = (holdings: readonly Holding[], round: number): MarginBook => ({
    marginType: 'REG_T',
    engine: undefined,
    house,
    asOf,
    calendar,
    // Some cents up and down: holdings stay the same, and no price repeats.
    holdings: holdings.map((holding, i) => ({
      ...holding,
      mark: Price.ofUnits(holding.mark + (((round * 37 + i * 11) % 20) + 1) * 1_000_000),
    })),
    market: {
      rate: 0.04,
      underlying: () => ({
        price: Price.ofUnits(AT + (round % 50) * 10_000_000),
        leverageFactor: 1,
        dividends: [],
      }),
    },
  });
  const times: number[] = [];
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    for (const holdings of all) {
      const book = at(holdings, round);
      const began = performance.now();
      amountsOf(book);
      if (round >= WARM_ROUNDS) times.push((performance.now() - began) * 1000);
    }
  }
  const sorted = Float64Array.from(times).sort();
  return {
    measure: `Reg T, sums: ${measure}`,
    value: quantile(sorted, 0.5),
    unit: 'µs',
    aim: { atMost: aim },
    details:
      `median of ${books} books at ${ROUNDS} prices each, after ${WARM_ROUNDS}; p90 ${quantile(sorted, 0.9).toFixed(0)}, ` +
      `p99 ${quantile(sorted, 0.99).toFixed(0)} µs`,
    leavesOut: 'marks, the reading of the portfolio, the names of groups',
  };
}

/** Whole books, each valued from scratch: implied volatilities, ten points, and all. */
function wholeBooks(
  measure: string,
  aim: number,
  make: (draw: Draw) => HypotheticalBook,
  books: number,
): Row {
  const next = chance(11);
  const warm = Math.ceil(books / 4);
  const all = Array.from({ length: warm + books }, () => make(next));
  for (const book of all.slice(0, warm)) requirementOfHypothetical(book);
  const times = Float64Array.from(all.slice(warm), (book) => {
    const began = performance.now();
    requirementOfHypothetical(book);
    return (performance.now() - began) * 1000;
  }).sort();
  return {
    measure,
    value: quantile(times, 0.5),
    unit: 'µs',
    aim: { atMost: aim },
    details: `median of ${books} books, p99 ${quantile(times, 0.99).toFixed(0)} µs; nothing is kept between them`,
    leavesOut: 'HTTP, JSON, marks',
  };
}

/** Market orders of one contract, each in a series that is held, in a portfolio of so many scattered series of three expirations. */
async function ordersInABook(series: number, orders: number): Promise<Row> {
  const underlying = 'XYZ';
  const instruments = new KnownInstruments({ instruments: [plainEquity(underlying)] });
  const rules = { ...(await rulesFor(1)), instruments };
  const brokerage = Brokerage.begin(rules, 7, MONDAY_TEN);
  const legs = scattered(chance(7), underlying, series, 3).filter((leg) => leg.kind === 'OPTION');
  const quote = (symbol: string, price: Price): Quote => ({
    symbol,
    bid: price,
    ask: price,
    last: price,
    at: MONDAY_TEN,
  });
  const quotes = [
    quote(underlying, AT),
    ...legs.map((leg) => quote(leg.symbol, Price.ofUnits(Math.max(leg.price ?? 0, 5_000_000)))),
  ];
  brokerage.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: true }, MONDAY_TEN);
  const { result: opened } = brokerage.execute<'OpenPortfolio'>(
    { ...openPortfolio(), portfolioType: 'MARGIN', marginType: 'REG_T' },
    MONDAY_TEN,
  );
  if ('code' in opened) throw new Error(opened.code);
  const { portfolioId } = opened.terms;
  const trade = ({ symbol, quantity }: RegTLeg, count = 1): void => {
    const order = marketOrder({ portfolioId, symbol }, quantity < 0 ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN');
    const { result } = brokerage.execute<'SubmitOrder'>(
      submitOrder({ ...order, assetClass: 'OPTION', quantity: Quantity.of(count) }),
      MONDAY_TEN,
    );
    if ('code' in result) throw new Error(JSON.stringify(result));
  };
  for (const leg of legs) trade(leg, Math.abs(leg.quantity) / 1e6);
  const times = Float64Array.from({ length: orders }, (_, i) => {
    const began = performance.now();
    trade(legs[(7 * i) % legs.length] ?? stock('X', 1));
    return performance.now() - began;
  }).sort();
  return {
    measure: `an order in a book of ${series} series in three expirations`,
    value: quantile(times, 0.5),
    unit: 'ms',
    aim: { atMost: 5 },
    details: `median of ${orders} market orders that fill; p90 ${quantile(times, 0.9).toFixed(1)}, longest ${quantile(times, 1).toFixed(1)} ms`,
    leavesOut: 'journal, HTTP; the margin watch, which looks once more within a second',
  };
}

export async function measureMargin(): Promise<readonly Row[]> {
  const books = sizeOf('BOOKS', 400);
  /** Books of dozens of series: fewer of them. */
  const few = Math.max(1, Math.ceil(books / 20));
  const row = (
    measure: string,
    aim: number | undefined,
    draw: (draw: Draw) => RegTLeg[],
    count = books,
  ): Row => {
    const next = chance(7);
    const warm = Math.ceil(count / 4);
    const { times, approximate } = time(
      Array.from({ length: warm + count }, () => draw(next)),
      warm,
    );
    const at = (share: number): string => quantile(times, share).toFixed(0);
    return {
      measure: `Reg T: ${measure}`,
      value: quantile(times, 0.5),
      unit: 'µs',
      ...(aim === undefined ? {} : { aim: { atMost: aim } }),
      details:
        `median of ${count} books, line by line; p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1)} µs; ` +
        `${approximate} approximate`,
      leavesOut: 'marks, the reading of the portfolio',
    };
  };
  return [
    sums(
      '10 positions in 8 underlyings',
      15,
      (draw) => [
        ...strategies(draw, 'A', 2),
        ...strategies(draw, 'B', 2),
        ...Array.from({ length: 6 }, (_, i) =>
          stock(`S${i}`, 100 * (1 + draw(9)) * (draw(4) === 0 ? -1 : 1)),
        ),
      ],
      books,
    ),
    sums('4 series of one underlying', 20, (draw) => strategies(draw, 'X', 4), books),
    sums('10 series of one underlying', 100, (draw) => strategies(draw, 'X', 10), Math.ceil(books / 4)),
    row('4 series of one underlying', undefined, (draw) => strategies(draw, 'X', 4)),
    row('10 series of one underlying', undefined, (draw) => strategies(draw, 'X', 10)),
    row('60 series of one underlying', 5000, (draw) => strategies(draw, 'X', 60), few),
    row(
      '60 series of one underlying, and 2,000 shares',
      5000,
      (draw) => [...strategies(draw, 'X', 60), stock('X', 2000)],
      few,
    ),
    row('60 series of one underlying and expiration', 5000, (draw) => scattered(draw, 'X', 60, 1), few),
    row('10 scattered series of one underlying', undefined, (draw) => scattered(draw, 'X', 10)),
    row('59 scattered series of one underlying', undefined, (draw) => scattered(draw, 'X', 59), few),
    row('10 positions in 8 underlyings', undefined, (draw) => [
      ...strategies(draw, 'A', 2),
      ...strategies(draw, 'B', 2),
      ...Array.from({ length: 6 }, (_, i) => stock(`S${i}`, 100 * (1 + draw(9)) * (draw(4) === 0 ? -1 : 1))),
    ]),
    wholeBooks(
      'TIMS: 10 positions in 6 underlyings, arrays cold',
      300,
      (draw) => imagined(draw, 10, 6),
      books,
    ),
    wholeBooks('TIMS: 1,000 positions in 40 underlyings', 250_000, (draw) => imagined(draw, 1000, 40), few),
    wholeBooks(
      'Reg T: 1,000 positions in 100 underlyings',
      250_000,
      (draw) => ({ ...imagined(draw, 1000, 100), marginType: 'REG_T', engine: undefined }),
      few,
    ),
    await ordersInABook(120, sizeOf('BOOK_ORDERS', 40)),
    await ordersInABook(20, sizeOf('BOOK_ORDERS', 40)),
  ];
}

await runAlone(import.meta.url, measureMargin);
