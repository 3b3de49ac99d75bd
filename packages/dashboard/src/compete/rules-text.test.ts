import { expect, it } from 'vitest';
import { rulesText, unrankedText } from './rules-text.ts';

it('rulesText: names the broker', () => {
  const rules = {
    initialCash: 100_000,
    portfolioType: 'MARGIN',
    brokerId: 'broker_03',
    assetClasses: ['EQUITY'],
  } as const;
  const nameOfBroker = (id: string): string => (id === 'broker_03' ? 'Harbor Securities' : id);
  expect(rulesText({ ...rules, assetClasses: [...rules.assetClasses] }, nameOfBroker)).toEqual([
    'Margin portfolio, broker Harbor Securities',
    'Shares',
  ]);
});

it('unrankedText: tells why a losing entry is above one that did not trade', () => {
  expect([undefined, 1, 5].map((minTrades) => unrankedText(minTrades))).toEqual([
    'Entries without a score, and those with fewer than one execution, rank below all scores, by return.',
    'Entries without a score, and those with fewer than one execution, rank below all scores, by return.',
    'Entries without a score, and those with fewer than 5 executions, rank below all scores, by return.',
  ]);
});
