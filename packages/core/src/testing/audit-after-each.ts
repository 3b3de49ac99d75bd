import { afterEach, expect } from 'vitest';
import { Auditor } from './auditor.js';
import type { TestMarket } from './market.js';

/** Audits the journal of each added market after its test. Call at the top of a test file; returns a function that adds a market. */
export function auditAfterEach(): <Market extends TestMarket>(market: Market) => Market {
  const markets: TestMarket[] = [];
  afterEach(() => {
    for (const { journal, brokerage } of markets.splice(0)) {
      const auditor = new Auditor();
      for (const { events } of journal) auditor.note(events);
      expect(auditor.differences(brokerage.state)).toEqual([]);
    }
  });
  return (market) => {
    markets.push(market);
    return market;
  };
}
