import { describe, expect, it } from 'vitest';
import {
  executionQualityBy,
  executionQualityOf,
  type MeasuredExecution,
  type MeasuredLeg,
  type MeasuredOrder,
  midOf,
} from './execution-quality.js';

const execution = (
  price: number,
  quantity: number,
  more: Partial<MeasuredExecution> = {},
): MeasuredExecution => ({
  at: 2000,
  price,
  quantity,
  quote: { bid: 99.9, ask: 100.1 },
  tookLiquidity: true,
  ...more,
});

function order(leg: Partial<MeasuredLeg> = {}, more: Partial<MeasuredOrder> = {}): MeasuredOrder {
  return {
    orderId: 'a',
    orderType: 'MARKET',
    brokerId: 'default',
    arrivedAt: 1000,
    hour: 10,
    isRejected: false,
    isFilled: true,
    legs: [
      {
        symbol: 'AAA',
        side: 'BUY',
        quantity: 100,
        multiplier: 1,
        arrival: { bid: 99.9, ask: 100.1 },
        executions: [execution(100.1, 100)],
        charges: 1,
        finalQuote: { bid: 99.9, ask: 100.1 },
        ...leg,
      },
    ],
    ...more,
  };
}

const closeTo = (value: number): unknown => expect.closeTo(value, 9);

describe('executionQualityOf', () => {
  it('a purchase at the ask costs half the spread', () => {
    expect(executionQualityOf([order()])).toEqual({
      orders: 1,
      executions: 1,
      notional: 10_010,
      arrivalMid: 100,
      slippageBps: closeTo(10),
      implementationShortfall: closeTo(11),
      implementationShortfallBps: closeTo(11),
      effectiveSpreadBps: closeTo(20),
      quotedSpreadBps: closeTo(20),
      priceImprovement: 0,
      priceImprovementRate: 0,
      fillRate: 1,
      timeToFirstFill: 1,
      timeToFill: 1,
      rejectRate: 0,
    });
  });

  it('a sale above the bid has improved', () => {
    const sale = order({ side: 'SELL', executions: [execution(99.95, 100)] });
    const quality = executionQualityOf([sale]);
    expect(quality).toMatchObject({
      slippageBps: closeTo(5),
      priceImprovement: closeTo(5),
      priceImprovementRate: 1,
    });
  });

  it('includes unbought shares of a rising stock in the shortfall', () => {
    const quality = executionQualityOf([
      order(
        { executions: [execution(100.1, 40)], finalQuote: { bid: 101.9, ask: 102.1 }, charges: 0 },
        { isFilled: false },
      ),
    ]);
    expect(quality.implementationShortfall).toBeCloseTo(0.1 * 40 + 2 * 60, 9);
    expect(quality.fillRate).toBeCloseTo(0.4, 12);
    expect(quality).not.toHaveProperty('timeToFill');
  });

  it('the realized spread is against the mid five minutes later', () => {
    const quality = executionQualityOf([order({ executions: [execution(100.1, 100, { midAfter: 100.3 })] })]);
    expect(quality.realizedSpreadBps).toBeCloseTo(-40, 9);
  });

  it('an auction has slippage and shortfall only', () => {
    const quality = executionQualityOf([order({ executions: [execution(100.5, 100, { isAuction: true })] })]);
    expect(quality.slippageBps).toBeCloseTo(50, 9);
    expect(quality).not.toHaveProperty('effectiveSpreadBps');
    expect(quality).not.toHaveProperty('priceImprovement');
  });

  it.each([
    ['one side', { bid: 99 }],
    ['crossed', { bid: 101, ask: 100 }],
    ['zero', { bid: 0, ask: 0 }],
  ])('a quote with %s gives no mid', (_, quote) => {
    expect(midOf(quote)).toBeUndefined();
    expect(executionQualityOf([order({ arrival: quote })])).not.toHaveProperty('slippageBps');
  });

  it('refused orders count in the reject rate alone', () => {
    const refused: MeasuredOrder = { ...order(), legs: [], isRejected: true, isFilled: false };
    expect(executionQualityOf([order(), refused])).toMatchObject({
      orders: 2,
      executions: 1,
      rejectRate: 0.5,
    });
  });

  it('means are weighted by executed value', () => {
    const small = order({ quantity: 100, executions: [execution(100, 100)] });
    const large = order({ quantity: 300, executions: [execution(100.1, 300)] });
    const weight = 300 * 100.1;
    expect(executionQualityOf([small, large]).slippageBps).toBeCloseTo((10 * weight) / (weight + 10_000), 9);
  });
});

describe('executionQualityBy', () => {
  it('groups by hour of arrival, in order', () => {
    const groups = executionQualityBy(
      [order({}, { hour: 15 }), order({}, { hour: 9 }), order({}, { hour: 15 })],
      'hour',
    );
    expect(groups.map(({ key, orders }) => [key, orders])).toEqual([
      ['09', 1],
      ['15', 2],
    ]);
  });
});
