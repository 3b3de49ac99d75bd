import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Price } from '../values/price.js';
import type { PositionIntent } from './order.js';
import { intentProblems, netLimitOf, structureProblems, unitsOf } from './structure.js';
import type { Leg, Strategy } from './structure.js';

/** `+2 AAPL260116C00150000`: two bought. */
function leg(text: string): Leg {
  const [quantity = '', symbol = ''] = text.split(' ');
  const contract = optionContract(parseOsi(symbol)!, {}, () => undefined)!;
  const positionIntent = quantity.startsWith('+') ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN';
  return { contract, positionIntent, quantity: Math.abs(Number(quantity)) };
}
/** Call or put on X, January unless said otherwise: `+1 C100`, `-1 P90 Feb`. */
const legs = (text: string): Leg[] =>
  text.split(', ').map((one) => {
    const [quantity = '', what = '', month] = one.split(' ');
    const root = what.startsWith('@') ? 'Y' : 'X';
    const plain = what.replace('@', '');
    const date = month === 'Feb' ? '260220' : '260116';
    return leg(
      `${quantity} ${root}${date}${plain.charAt(0)}${String(Number(plain.slice(1)) * 1000).padStart(8, '0')}`,
    );
  });

describe('structures (D77)', () => {
  it.each<[Strategy, string]>([
    ['VERTICAL_SPREAD', '+1 C100, -1 C110'],
    ['VERTICAL_SPREAD', '-3 P100, +3 P90'],
    ['CALENDAR_SPREAD', '-1 C100, +1 C100 Feb'],
    ['CALENDAR_SPREAD', '-1 C105, +1 C100 Feb'],
    ['STRADDLE', '+1 C100, +1 P100'],
    ['STRANGLE', '-2 C110, -2 P90'],
    ['BUTTERFLY', '+1 C90, -2 C100, +1 C110'],
    ['BUTTERFLY', '-2 P100, +4 P110, -2 P130'],
    ['IRON_CONDOR', '+1 P80, -1 P90, -1 C110, +1 C120'],
    ['IRON_CONDOR', '-1 P90, +1 P100, +1 C100, -1 C105'],
  ])('%s %s', (strategy, text) => {
    expect(structureProblems(strategy, legs(text))).toEqual([]);
    expect(structureProblems(strategy, legs(text).reverse())).toEqual([]);
  });

  it.each<[Strategy, string, string[]]>([
    ['VERTICAL_SPREAD', '+1 C100, -1 @C110', ['must be of one underlying']],
    ['VERTICAL_SPREAD', '+1 C100, -1 C110 Feb', ['must have one expiration']],
    ['VERTICAL_SPREAD', '+1 C100, -1 P110', ['must be of one optionType']],
    ['VERTICAL_SPREAD', '+1 C100, -1 C100', ['must have different strikes']],
    ['VERTICAL_SPREAD', '+1 C100, +1 C110', ['must buy one and sell one']],
    ['VERTICAL_SPREAD', '+1 C100, -2 C110', ['must be in the ratio 1:1']],
    ['CALENDAR_SPREAD', '+1 C100, -1 C110', ['must have two expirations']],
    ['STRADDLE', '+1 C100, +1 P110', ['must have the same strike']],
    ['STRADDLE', '+1 C100, -1 P100', ['must be on the same side']],
    ['STRADDLE', '+1 C100, +1 C100', ['must be a call and a put']],
    ['STRANGLE', '+1 C90, +1 P110', ['must be a put below a call']],
    ['STRANGLE', '+1 C100, +1 P100', ['must have different strikes']],
    ['BUTTERFLY', '+1 C90, -1 C100, +1 C110', ['must be in the ratio 1:2:1']],
    ['BUTTERFLY', '+1 C90, -2 C100, -1 C110', ['must be on the same side']],
    ['BUTTERFLY', '+1 C90, +2 C100, +1 C110', ['must buy one and sell one']],
    ['BUTTERFLY', '+1 C90, -2 C90, +1 C110', ['must have different strikes']],
    ['IRON_CONDOR', '+1 P80, -1 P120, -1 C110, +1 C130', ['must be two puts below two calls']],
    ['IRON_CONDOR', '+1 P80, -1 P90, -1 P110, +1 C120', ['must be two puts below two calls']],
    ['IRON_CONDOR', '+1 P80, +1 P90, -1 C110, +1 C120', ['must buy one and sell one']],
    ['IRON_CONDOR', '+1 P80, -1 P90, +1 C110, -1 C120', ['must be on the same side']],
    ['IRON_CONDOR', '+1 P80, -1 P90, -1 C110, +2 C120', ['must be in the ratio 1:1:1:1']],
    ['VERTICAL_SPREAD', '+1 C100, +2 @P100 Feb', ['must be of one underlying', 'must have one expiration']],
  ])('%s %s: %j', (strategy, text, messages) => {
    const problems = structureProblems(strategy, legs(text));
    expect(problems.slice(0, messages.length)).toEqual(messages.map((message) => `legs ${message}`));
    if (messages.length === 1) expect(problems).toHaveLength(1);
  });

  it('contracts with different deliverables have different underlyings', () => {
    const [a, b] = legs('+1 C100, -1 C110') as [Leg, Leg];
    const adjusted = { ...b, contract: { ...b.contract, deliverable: 150 } };
    expect(structureProblems('VERTICAL_SPREAD', [a, adjusted])).toEqual(['legs must be of one underlying']);
  });
});

describe('units (D75)', () => {
  it.each([
    [[2, 4, 2], undefined, { units: 2, ratios: [1, 2, 1] }],
    [[1, 2, 1], 5, { units: 5, ratios: [1, 2, 1] }],
    [[5, 10, 5], 5, { units: 5, ratios: [1, 2, 1] }],
    [[2, 2], 2, { units: 2, ratios: [1, 1] }],
    [[2, 2], 4, undefined],
    [[2, 2], 1, undefined],
    [[3], undefined, { units: 3, ratios: [1] }],
  ])('legs %j with quantity %j', (quantities, quantity, units) => {
    expect(unitsOf(quantities, quantity)).toEqual(units);
  });

  it('units of the ratio are the quantities, in lowest terms', () => {
    const quantity = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(fc.array(quantity, { minLength: 2, maxLength: 4 }), (quantities) => {
        const { units, ratios } = unitsOf(quantities)!;
        expect(ratios.map((ratio) => ratio * units)).toEqual(quantities);
        expect(unitsOf(ratios)!.units).toBe(1);
      }),
    );
  });
});

describe('intent (D76)', () => {
  const problems = (
    strategy: Strategy,
    positionIntent: PositionIntent,
    intents: readonly PositionIntent[],
    limit?: string,
  ) =>
    intentProblems({
      strategy,
      positionIntent,
      legs: intents.map((one) => ({ positionIntent: one })),
      limitPrice: limit === undefined ? undefined : Price.of(limit),
    });
  const ALL_OR_NONE = ['legs must all open or all close'];
  const DISAGREES = ['positionIntent must agree with the legs and limitPrice'];

  it.each<[PositionIntent, PositionIntent[], string | undefined, string[]]>([
    ['BUY_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '1', []],
    ['BUY_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '0', []],
    ['BUY_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '-1', DISAGREES],
    ['SELL_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '-1', []],
    ['SELL_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '1', []],
    ['SELL_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], undefined, []],
    ['SELL_TO_CLOSE', ['BUY_TO_OPEN', 'SELL_TO_OPEN'], '1', DISAGREES],
    ['SELL_TO_CLOSE', ['BUY_TO_CLOSE', 'SELL_TO_CLOSE'], '1', []],
    ['BUY_TO_OPEN', ['BUY_TO_OPEN', 'SELL_TO_CLOSE'], '1', []],
    ['BUY_TO_CLOSE', ['BUY_TO_OPEN', 'SELL_TO_CLOSE'], '1', DISAGREES],
  ])('a vertical, %s of %j at %s', (intent, intents, limit, expected) => {
    expect(problems('VERTICAL_SPREAD', intent, intents, limit)).toEqual(expected);
  });

  it('only verticals and calendars roll', () => {
    expect(problems('STRADDLE', 'BUY_TO_OPEN', ['BUY_TO_OPEN', 'BUY_TO_CLOSE'])).toEqual(ALL_OR_NONE);
    const condor = ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE'] as const;
    expect(problems('IRON_CONDOR', 'SELL_TO_OPEN', condor)).toEqual(ALL_OR_NONE);
  });

  it('a credit is negative for either sign of the input', () => {
    expect(netLimitOf('SELL_TO_OPEN', Price.of('2.5'))).toBe(Price.of('-2.5'));
    expect(netLimitOf('SELL_TO_CLOSE', Price.of('-2.5'))).toBe(Price.of('-2.5'));
    expect(netLimitOf('BUY_TO_OPEN', Price.of('2.5'))).toBe(Price.of('2.5'));
  });
});
