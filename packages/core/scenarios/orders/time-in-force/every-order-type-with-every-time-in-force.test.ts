import { describe, expect, it } from 'vitest';
import { goodTill, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';

const TYPES = {
  MARKET: {},
  LIMIT: { limit: '100.00' },
  STOP: { stop: '105.00' },
  STOP_LIMIT: { stop: '105.00', limit: '106.00' },
  TRAILING_STOP: { trailingAmount: '5.00' },
  TRAILING_STOP_LIMIT: { trailingAmount: '5.00', limit: '106.00' },
} as const satisfies Record<string, TestOrder>;

const LIVES = {
  DAY: {},
  GTC: {},
  IOC: {},
  FOK: {},
  GTD: { more: { goodTillDate: goodTill('2026-01-07') } },
} as const satisfies Record<string, TestOrder>;

const typeNames = Object.keys(TYPES) as (keyof typeof TYPES)[];
const lifeNames = Object.keys(LIVES) as (keyof typeof LIVES)[];
const waitsForTrigger = (type: keyof typeof TYPES): boolean => type !== 'MARKET' && type !== 'LIMIT';

describe.each(typeNames)('%s', (type) => {
  it.each(lifeNames)('%s fills at a marketable price', (tif) => {
    const market = new TestMarket();
    market.quote('AAPL', '99.99', '100.00', { last: '100.00' });
    const order = market.place(market.openPortfolio(), { type, ...TYPES[type], tif, ...LIVES[tif] });
    if (waitsForTrigger(type)) {
      expect(market.order(order).status).toBe('ACTIVE');
      market.quote('AAPL', '105.49', '105.50', { last: '105.50' });
      expect(market.fills(order)).toEqual(['10 @ 105.5']);
    } else {
      expect(market.fills(order)).toEqual(['10 @ 100']);
    }
    expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'FILLED']);
  });

  it.each(lifeNames)('%s ends when it is not', (tif) => {
    const market = new TestMarket();
    market.quote('AAPL', '100.49', waitsForTrigger(type) ? '100.50' : undefined, { last: '100.50' });
    const order = market.place(market.openPortfolio(), { type, ...TYPES[type], tif, ...LIVES[tif] });
    const immediate = (tif === 'IOC' || tif === 'FOK') && !waitsForTrigger(type);
    expect(market.order(order).status).toBe(immediate ? 'CANCELED' : 'ACTIVE');
    market.advanceTo('2026-06-01', 12, 0);
    const reason = !immediate ? 'EXPIRED' : tif === 'IOC' ? 'IOC_REMAINDER' : 'FOK_NOT_FILLABLE';
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: reason });
    const ends = {
      DAY: '2026-01-05T16:00:00-05:00',
      // The 90th day after 2026-01-05 is Sunday 2026-04-05; the Friday before it is Good Friday.
      GTC: '2026-04-02T16:00:00-04:00',
      GTD: '2026-01-07T16:00:00-05:00',
      IOC: immediate ? '2026-01-05T10:00:00-05:00' : '2026-01-05T16:00:00-05:00',
      FOK: immediate ? '2026-01-05T10:00:00-05:00' : '2026-01-05T16:00:00-05:00',
    };
    expect(market.time(market.order(order).canceledAt)).toBe(ends[tif]);
    expect(market.brokerage.state.orders.size).toBe(0);
  });
});
