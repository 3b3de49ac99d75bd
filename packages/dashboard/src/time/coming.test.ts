import { describe, expect, it } from 'vitest';
import { actionMarkers } from './coming.ts';

describe('announced corporate actions on the timeline', () => {
  const announced = { symbol: 'XYZ', exDate: '2026-01-07', effectiveAt: '2026-01-07T08:00:00.000Z' };

  it.each([
    [{ type: 'SPLIT', ratio: { new: 3, old: 2 } }, 'XYZ splits 3 for 2'],
    [{ type: 'STOCK_DIVIDEND', rate: 0.07 }, 'XYZ pays a stock dividend of 7 %'],
    [{ type: 'SYMBOL_CHANGE', newSymbol: 'NEWX' }, 'XYZ changes its symbol to NEWX'],
    [{ type: 'SPIN_OFF', newSymbol: 'WBD', ratio: 0.241917 }, 'XYZ spins off 0.241917 WBD a share'],
    [{ type: 'SPIN_OFF', newSymbol: 'GEHC', ratio: { new: 1, old: 3 } }, 'XYZ spins off 1 GEHC for 3'],
    [{ type: 'MERGER', cashPerShare: 95 }, 'XYZ is acquired for $95.00 a share'],
    [
      { type: 'MERGER', newSymbol: 'T', ratio: 1.437, cashPerShare: 53.75 },
      'XYZ is acquired for 1.437 T a share and $53.75 a share',
    ],
    [{ type: 'DELISTING', cashPerShare: 0 }, 'XYZ is delisted as worthless'],
    [{ type: 'DELISTING', cashPerShare: 7 }, 'XYZ is delisted for $7.00 a share'],
    [{ type: 'SPECIAL_DIVIDEND', cashPerShare: 15 }, 'XYZ special dividend of $15.00 a share: ex-date'],
  ] as const)('%o', (action, title) => {
    const markers = actionMarkers([{ ...announced, actionId: 'a', status: 'ANNOUNCED', ...action }]);
    expect(markers).toMatchObject([{ title, atMs: Date.parse(announced.effectiveAt) }]);
  });
});
