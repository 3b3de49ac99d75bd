import type { Bar, Leg, PreviewRejection } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { numberTyped, words } from '../format.ts';
import { legsOf } from '../option-legs.ts';
import { intervalForAge } from '../pages/equity-curve.tsx';
import { barOf, startOfBar, withPrice } from './forming-bar.ts';
import { distanceWarning, limitAtMiddle, netOf } from './market-side.ts';
import {
  breakevens,
  impliedVolatility,
  normal,
  optionValue,
  probabilityOfProfit,
  profitAt,
} from './option-value.ts';
import { labelsOf } from './payoff-chart.tsx';
import { remedyOf } from './remedy.ts';
import { amountOfNet, limitOfNet, netText, sideOfNet } from './net-price.ts';
import { closingTicket, headingOf, nameOf, reopeningLegs, rollingTicket, successorsOf } from '../strategy.ts';
import { exitPrice, missingOf, orderOf, outcomeAt, problemsOf } from './ticket-body.ts';
import { withLeg } from './tray-legs.ts';

const bar = (timestamp: number, close: number, volume = 10): Bar => ({
  timestamp,
  open: close,
  high: close + 1,
  low: close - 1,
  close,
  volume,
});

describe('The current bar', () => {
  const noon = Date.parse('2026-01-06T12:00:30-05:00');
  const yesterday = { ...bar(Date.parse('2026-01-05T09:30:00-05:00'), 100) };

  it('starts, for a daily bar, at the time of day of the last one', () => {
    expect(new Date(startOfBar('1Day', noon, yesterday)).toISOString()).toBe('2026-01-06T14:30:00.000Z');
    // Clocks were put forward in between: the same time in New York.
    const spring = Date.parse('2026-03-09T12:00:00-04:00');
    const before = bar(Date.parse('2026-03-06T09:30:00-05:00'), 1);
    expect(new Date(startOfBar('1Day', spring, before)).toISOString()).toBe('2026-03-09T13:30:00.000Z');
  });

  it('includes later prices, and a price after its end starts another bar', () => {
    const made = withPrice([yesterday], '1Day', 105, noon);
    expect(made).toHaveLength(2);
    const grown = withPrice(made, '1Day', 103, noon + 1000).at(-1);
    expect(grown).toMatchObject({ open: 105, high: 105, low: 103, close: 103 });
    expect(withPrice(made, '1Day', 50, Date.parse('2026-01-05T12:00:00-05:00'))).toBe(made);
  });

  it('is aggregated from shorter bars', () => {
    expect(barOf([bar(1, 5), bar(2, 8), bar(3, 6)], 0)).toEqual({
      timestamp: 0,
      open: 5,
      high: 9,
      low: 4,
      close: 6,
      volume: 30,
    });
    expect(barOf([], 0)).toBeUndefined();
  });
});

describe('Option values', () => {
  it('match reference values', () => {
    expect(normal(1.96)).toBeCloseTo(0.9750021, 6);
    expect(optionValue(true, 100, 100, 0.2, 1)).toBeCloseTo(7.9656, 3);
    expect(optionValue(false, 90, 100, 0.2, 0)).toBe(10);
    expect(impliedVolatility(true, 100, 100, 1, 7.9656)).toBeCloseTo(0.2, 4);
    expect(impliedVolatility(true, 100, 90, 1, 9)).toBeUndefined();
  });

  it('include breakeven, profit and its probability for a spread', () => {
    const leg = { isCall: true, expiresAtMs: 0, volatility: 0.2 };
    const legs = [
      { ...leg, count: 1, strike: 100 },
      { ...leg, count: -1, strike: 110 },
    ];
    const points = [80, 100, 110, 130].map((at) => ({ at, value: profitAt(legs, 4, at, 0) }));
    expect(points.map(({ value }) => value)).toEqual([-400, -400, 600, 600]);
    expect(breakevens(points)).toEqual([104]);
    // Above 104 from 100 in a year at 20 %: N(−(ln 1.04)/0.2 − 0.1).
    expect(probabilityOfProfit(points, 100, 0.2, 1)).toBeCloseTo(normal(-Math.log(1.04) / 0.2 - 0.1), 6);
  });

  it('merge overlapping labels of a payoff', () => {
    expect(labelsOf([100, 101, 200], (strike) => strike * 2).map(({ text }) => text)).toEqual([
      '100.00 · 101.00',
      '200.00',
    ]);
  });
});

describe('Strategies', () => {
  const name = (text: string): string | undefined => nameOf(legsOf(text))?.title;
  const C = (strike: number, date = '260116'): string => `AAPL${date}C00${strike}000`;
  const P = (strike: number): string => `AAPL260116P00${strike}000`;

  it.each([
    ['Bull call spread', `B1x${C(190)},S1x${C(195)}`],
    ['Bear call spread', `B2x${C(195)},S2x${C(190)}`],
    ['Bear put spread', `S1x${P(190)},B1x${P(195)}`],
    ['Bull put spread', `S1x${P(190)},B1x${P(185)}`],
    ['Calendar call spread', `S1x${C(190)},B1x${C(190, '260220')}`],
    ['Diagonal call spread', `S1x${C(195)},B1x${C(190, '260220')}`],
    ['Long straddle', `B1x${C(190)},B1x${P(190)}`],
    ['Short strangle', `S1x${C(195)},S1x${P(185)}`],
    ['Long call butterfly', `B1x${C(185)},S2x${C(190)},B1x${C(195)}`],
    ['Iron condor', `B1x${P(180)},S1x${P(185)},S1x${C(195)},B1x${C(200)}`],
    ['Iron butterfly', `B1x${P(180)},S1x${P(190)},S1x${C(190)},B1x${C(200)}`],
    ['Short put', `S1x${P(185)}`],
    ['Custom legs', `B1x${C(190)},B1x${C(195)}`],
    ['1×2 call ratio spread', `B1x${C(190)},S2x${C(195)}`],
    ['2×3 put ratio spread', `S3x${P(185)},B2x${P(190)}`],
    ['Bullish risk reversal', `S1x${P(185)},B1x${C(195)}`],
    ['Bearish risk reversal', `B1x${P(185)},S1x${C(195)}`],
    ['Jade lizard', `S1x${P(185)},S1x${C(195)},B1x${C(200)}`],
    ['Long call condor', `B1x${C(180)},S1x${C(185)},S1x${C(190)},B1x${C(195)}`],
    ['Long box', `B1x${C(185)},S1x${P(185)},S1x${C(195)},B1x${P(195)}`],
    ['Short box', `S1x${C(185)},B1x${P(185)},B1x${C(195)},S1x${P(195)}`],
    ['Roll short call', `b1x${C(190)},S1x${C(195)}`],
    ['Roll bear call spread', `b1x${C(190)},s1x${C(195)},S1x${C(200)},B1x${C(205)}`],
    [undefined, `B1x${C(190)},S4x${C(195)}`],
    [undefined, `B1x${C(190)},S1x${C(190)}`],
    [undefined, `B1x${C(190)},B1xMSFT260116C00195000`],
    [undefined, `B1x${C(180)},B1x${C(185)},B1x${C(190)},B1x${C(195)},B1x${C(200)}`],
  ])('%s: %s', (title, text) => {
    expect(name(text)).toBe(title);
  });

  it.each([
    ['Close bull call spread 190/195 Jan 16', `s1x${C(190)},b1x${C(195)}`],
    ['Close bear call spread 190/195 Jan 16', `b1x${C(190)},s1x${C(195)}`],
    ['Close iron condor 180/185/195/200 Jan 16', `s1x${P(180)},b1x${P(185)},b1x${C(195)},s1x${C(200)}`],
    ['Close long straddle 190 Jan 16', `s1x${C(190)},s1x${P(190)}`],
    ['Bull call spread 190/195 Jan 16', `B1x${C(190)},S1x${C(195)}`],
    ['Custom legs 190/195 Jan 16', `B1x${C(190)},B1x${C(195)}`],
    ['Calendar call spread 190 Jan 16/Feb 20', `S1x${C(190)},B1x${C(190, '260220')}`],
    ['Calendar call spread 190 Jan 16, 2026/Jan 15, 2027', `S1x${C(190)},B1x${C(190, '270115')}`],
    ['Roll short call 190 Jan 16 → Feb 20', `b1x${C(190)},S1x${C(190, '260220')}`],
    ['Roll short call 190 Jan 16 → 195 Feb 20', `b1x${C(190)},S1x${C(195, '260220')}`],
    ['Roll bear call spread 190/195 → 200/205 Jan 16', `b1x${C(190)},s1x${C(195)},S1x${C(200)},B1x${C(205)}`],
  ])('%s: names the strategy as it is held (%s)', (title, text) => {
    expect(headingOf(legsOf(text))).toBe(title);
  });

  it('are closed by one order with every leg, in units', () => {
    const held = [
      { symbol: C(190), quantity: 2 },
      { symbol: C(195), quantity: -2 },
    ];
    expect(closingTicket('p', held)).toMatchObject({
      strategy: 'VERTICAL_SPREAD',
      legs: `s1x${C(190)},b1x${C(195)}`,
      quantity: 2,
    });
    expect(closingTicket('p', [{ symbol: 'AAPL', quantity: -3 }])).toMatchObject({
      intent: 'BUY_TO_CLOSE',
      quantity: 3,
    });
  });

  it('are rolled by one order that closes up to two contracts and opens the next', () => {
    expect(rollingTicket('p', [{ symbol: C(190), quantity: -2 }], [C(195, '260220')])).toMatchObject({
      strategy: 'CALENDAR_SPREAD',
      legs: `b1x${C(190)},S1x${C(195, '260220')}`,
      quantity: 2,
      at: 'mid',
    });
    const spread = [
      { symbol: C(190), quantity: -4 },
      { symbol: C(195), quantity: 2 },
    ];
    expect(rollingTicket('p', spread, [C(200), C(205)])).toMatchObject({
      strategy: 'CUSTOM',
      legs: `b2x${C(190)},s1x${C(195)},S2x${C(200)},B1x${C(205)}`,
      quantity: 2,
    });
    expect(rollingTicket('p', [{ symbol: C(190), quantity: 1 }], [C(190)])).toBeUndefined();
    expect(rollingTicket('p', [...spread, ...spread], [C(200), C(205), C(200), C(205)])).toBeUndefined();
  });

  it('move by listed strikes, or not at all where one is not listed', () => {
    const chain = [185, 190, 195, 200].map((strike) => ({
      optionSymbol: C(strike, '260220'),
      optionType: 'CALL',
      strike,
    })) as unknown as Parameters<typeof successorsOf>[1];
    const held = [
      { symbol: C(190), quantity: -1 },
      { symbol: C(195), quantity: 1 },
    ];
    const next = (shift: number) => successorsOf(held, chain, shift);
    expect(next(0)).toEqual([C(190, '260220'), C(195, '260220')]);
    expect(next(1)).toEqual([C(195, '260220'), C(200, '260220')]);
    expect(next(-1)).toEqual([C(185, '260220'), C(190, '260220')]);
    expect(next(2)).toBeUndefined();
  });

  it('begin in the middle of the market, on the tick', () => {
    const at = (middle: number | undefined) => ({ bid: undefined, middle, ask: undefined });
    expect(limitAtMiddle(at(2.63), 'OPTION')).toBe(2.63);
    expect(limitAtMiddle(at(4.12), 'OPTION')).toBe(4.1);
    expect(limitAtMiddle(at(4.12), 'OPTION', 0.01)).toBe(4.12);
    expect(limitAtMiddle(at(-1.23), 'SPREAD')).toBe(-1.23);
    expect(limitAtMiddle(at(undefined), 'SPREAD')).toBeUndefined();
  });

  it('have a net price with a side: a typed sign makes a credit', () => {
    expect(limitOfNet('2.05', 'DEBIT')).toEqual({ limit: '2.05', net: 'DEBIT' });
    expect(limitOfNet('2.05', 'CREDIT')).toEqual({ limit: '-2.05', net: 'CREDIT' });
    expect(limitOfNet('-2.05', 'DEBIT')).toEqual({ limit: '-2.05', net: 'CREDIT' });
    expect(limitOfNet('', 'CREDIT')).toEqual({ limit: '', net: 'CREDIT' });
    expect([netText(2.05), netText(-0.34), netText(undefined)]).toEqual(['2.05 debit', '0.34 credit', '–']);
    expect([sideOfNet('', 'CREDIT'), sideOfNet('2', 'CREDIT'), sideOfNet('-2', null)]).toEqual([
      'CREDIT',
      'DEBIT',
      'CREDIT',
    ]);
    expect(amountOfNet('-2.05')).toBe('2.05');
  });

  it('are opened again at another expiration with the same strikes, or not at all', () => {
    const held = [
      { symbol: C(190), quantity: 4 },
      { symbol: C(195), quantity: -2 },
    ];
    const listed = (...strikes: readonly number[]) =>
      strikes.map((strike) => ({
        optionSymbol: C(strike, '260220'),
        optionType: 'CALL' as const,
        strike,
        expiration: '2026-02-20',
      })) as unknown as Parameters<typeof reopeningLegs>[1];
    expect(reopeningLegs(held, listed(190, 195))).toEqual(
      legsOf(`B2x${C(190, '260220')},S1x${C(195, '260220')}`),
    );
    expect(reopeningLegs(held, listed(190))).toBeUndefined();
  });

  it('gain a unit from a leg on the same side, and lose one from the other side', () => {
    const one = withLeg([], C(190), 'BUY', 0);
    expect(withLeg(one, C(190), 'BUY', 0)[0]?.quantity).toBe(2);
    expect(withLeg(one, C(190), 'SELL', 0)).toEqual([]);
    expect(withLeg([], C(190), 'SELL', 3)[0]?.positionIntent).toBe('SELL_TO_CLOSE');
  });

  it('have a net price: legs bought at the ask, sold at the bid', () => {
    const legs: readonly Leg[] = legsOf(`B1x${C(190)},S1x${C(195)}`);
    const quote = (bid: number, ask: number) => ({ symbol: '', price: bid, bid, ask, timestamp: 0 });
    expect(netOf(legs, [quote(2.6, 2.7), quote(0.6, 0.7)])).toEqual({ ask: 2.1, bid: 1.9, middle: 2 });
    expect(netOf(legs, [quote(2.6, 2.7), undefined]).ask).toBeUndefined();
  });
});

describe('The order ticket', () => {
  const query = (text: string): URLSearchParams => new URLSearchParams(text);

  it.each([
    ['1,000', 1000],
    ['$1,000.50', 1000.5],
    ['', undefined],
    ['1e3', Number.NaN],
    ['ten', Number.NaN],
  ])('reads %j as %s', (text, value) => {
    expect(numberTyped(text)).toEqual(value);
  });

  it('requires a quantity, and never sends an empty one as 1', () => {
    expect(missingOf(query(''), 'AAPL')).toBe('Enter a quantity.');
    expect(orderOf(query(''), 'p', 'AAPL').quantity).toBeUndefined();
    expect(orderOf(query('quantity=1,000'), 'p', 'AAPL').quantity).toBe(1000);
    expect(problemsOf(query('quantity=ten')).get('quantity')).toMatch('must be a number');
    expect(missingOf(query('quantity=0'), 'AAPL')).toBe('Quantity must be more than zero.');
  });

  it('converts exits in percent and dollars to prices, and shows the gain or loss', () => {
    const entry = { price: 100, quantity: 10, multiplier: 1, isBuy: true };
    expect(exitPrice(5, 'percent', 'target', entry)).toBe(105);
    expect(exitPrice(50, 'dollars', 'guard', entry)).toBe(95);
    expect(exitPrice(50, 'dollars', 'target', { ...entry, isBuy: false })).toBe(95);
    expect(outcomeAt(95, entry)).toBe(-50);
    expect(exitPrice(200, 'percent', 'guard', entry)).toBeUndefined();
  });

  it('warns if a limit is far from the market, or a stop on the wrong side', () => {
    const market = { bid: 99, ask: 100, middle: 99.5 };
    expect(distanceWarning('LIMIT', true, 105, undefined, market)).toMatch('5.0% above the ask');
    expect(distanceWarning('LIMIT', false, 150, undefined, market)).toMatch('may never fill');
    expect(distanceWarning('STOP', true, undefined, 90, market)).toMatch('triggers at once');
    expect(distanceWarning('LIMIT', true, 100, undefined, market)).toBeUndefined();
  });

  it('suggests a change with which a refused order is accepted', () => {
    const order = { ...orderOf(query('quantity=100'), 'p', 'AAPL'), quantity: 100 };
    const refusal: PreviewRejection = {
      code: 'INSUFFICIENT_FUNDS',
      message: '',
      availableCash: 500,
      requiredAmount: 1000,
    };
    expect(remedyOf(refusal, order)).toBe(
      'Requires $1,000.00 of cash; available: $500.00. Reduce to 50 or deposit $500.00.',
    );
  });

  it('shows codes in readable words', () => {
    expect([words('ROTH_IRA'), words('REG_T'), words('BUY_TO_OPEN')]).toEqual([
      'Roth IRA',
      'Reg T',
      'Buy to open',
    ]);
  });

  it('selects the curve interval by the age of the portfolio', () => {
    expect([9 * 60_000, 3 * 86_400_000, 30 * 86_400_000, 3e10].map(intervalForAge)).toEqual([
      '1m',
      '5m',
      '1h',
      '1d',
    ]);
  });
});
