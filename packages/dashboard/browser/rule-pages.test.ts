import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cancelReasons, errorCodes, marginStrategies, type Order } from '@sandpit/protocol';
import { expect, it } from 'vitest';
import { TERMS } from '../src/why/terms.js';
import { type RulePage, ruleNamed, ruleOfCode, ruleOfGroup, ruleOfOrder } from '../src/why/rule-pages.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** True if the documentation has the page, and in it the heading that the address names. */
function exists({ path }: RulePage): boolean {
  const [page = '', anchor] = path.split('#');
  const file = `${DOCS}${page}.md`;
  return existsSync(file) && (anchor === undefined || headingsOf(file).includes(anchor));
}

/** Anchors of the headings of a page, as the documentation site has them. */
const headingsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  );

it('rules of orders: every error code, cancel reason and margin strategy has a page in the documentation', () => {
  const pages = [
    ...Object.keys(errorCodes).map((code) => ruleOfCode(code)),
    ruleOfCode('INSUFFICIENT_FUNDS', { requiredBuyingPower: 1 }),
    ...cancelReasons.map((cancelReason) => ruleOfOrder({ cancelReason } as Order)),
    ...marginStrategies.map((strategy) => ruleNamed(ruleOfGroup(strategy))),
  ];
  expect(pages.filter((page) => page === undefined || !exists(page))).toEqual([]);
});

it('rules of orders: a refusal for buying power links to margin, one for cash to reservations', () => {
  expect(ruleOfCode('INSUFFICIENT_FUNDS', { requiredBuyingPower: 1 })?.path).toBe('rules/margin-reg-t');
  expect(ruleOfCode('INSUFFICIENT_FUNDS', { requiredAmount: 1 })?.path).toBe('rules/reservations');
  expect(ruleOfCode('INVALID')).toBeUndefined();
});

it('words of the trade: the page of each explanation, and the heading that it names, are in the documentation', () => {
  expect(Object.entries(TERMS).filter(([, term]) => !exists(term))).toEqual([]);
});
