import { expect, it } from 'vitest';
import { optionLeg, regT } from '../../testing/margin-legs.js';
import { dollars } from '../../testing/market.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';

/** `-2 C100` two short calls with a strike of 100, `/2026-03-20` of another expiration. */
function leg(text: string) {
  const [, count, right, strike, expiration = '2026-02-20'] =
    /^(-?\d+) ([CP])([\d.]+)(?:\/(.+))?$/.exec(text) ?? [];
  return optionLeg({
    right: right === 'C' ? 'CALL' : 'PUT',
    quantity: Number(count),
    strike: strike!,
    price: '30',
    underlyingPrice: '100',
    expiration,
  });
}

it.each([
  ['1 C95, -1 C105', ['DEBIT_SPREAD 0']],
  ['-1 P95, 1 P105', ['DEBIT_SPREAD 0']],
  ['-3 C95, 3 C105', ['CREDIT_SPREAD 3000']],
  ['1 C95, -2 C100, 1 C105', ['LONG_BUTTERFLY 0']],
  ['1 C95, -2 C100, 1 C110', ['LONG_BUTTERFLY 500']],
  ['-1 P95, 2 P100, -1 P105', ['SHORT_BUTTERFLY 500']],
  ['1 P90, -1 P95, -1 P100, 1 P105', ['LONG_CONDOR 0']],
  ['-2 P90, 2 P95, 2 P100, -2 P105', ['SHORT_CONDOR 1000']],
  ['1 P85, -1 P90, -1 C110, 1 C120', ['IRON_CONDOR 1000']],
  ['1 P85, -1 P100, -1 C100, 1 C120', ['IRON_BUTTERFLY 2000']],
  ['1 C95, -1 C105, -1 P95, 1 P105', ['LONG_BOX 0']],
  ['-1 C95, 1 C105, 1 P95, -1 P105', ['SHORT_BOX 1000']],
  ['-1 C100, 1 C100/2026-03-20', ['LONG_CALENDAR 0']],
  ['-1 C95, 1 C100/2026-03-20', ['DIAGONAL_SPREAD 500']],
  // The short settles last: each is alone.
  ['1 C100, -1 C100/2026-03-20', ['LONG_CALL 0', 'NAKED_CALL 5000']],
  ['1 C100, 1 P100', ['LONG_CALL 0', 'LONG_PUT 0']],
  // Three verticals are as good as one group without a name.
  ['1 C80, -1 C85, 1 C90, -1 C95, 1 C100, -1 C105', ['DEBIT_SPREAD 0', 'LONG_CONDOR 0']],
  // 2 × 10 and 1 × 15 wide: only together no more than 25.
  ['3 C110, -2 C100, -1 C95', ['CREDIT_SPREAD 1500', 'CREDIT_SPREAD 2000']],
  ['1 C95, -1 C100, 1 C120', ['LONG_CALL 0', 'DEBIT_SPREAD 0']],
  // A ratio spread: pairs by the spread rule, the rest naked.
  ['1 C95, -2 C105', ['DEBIT_SPREAD 0', 'NAKED_CALL 4500']],
  // Two debit verticals, one within the other, leave no naked call though one could be paired away.
  ['1 C90, -1 C95, 1 C100, -1 C105', ['DEBIT_SPREAD 0', 'DEBIT_SPREAD 0']],
  ['-1 P95/2026-03-20, 1 P90/2026-03-20', ['CREDIT_SPREAD 500']],
  ['-1 P95, 1 P90/2026-03-20', ['DIAGONAL_SPREAD 500']],
  ['-1 P90, 1 P95/2026-03-20', ['DIAGONAL_SPREAD 0']],
  ['-1 C105, -1 P95', ['SHORT_STRANGLE 7500']],
])('%s: %j', (book, expected) => {
  const { groups } = regT(book.split(', ').map(leg));
  expect(groups.map(({ strategy, amounts }) => `${strategy} ${dollars(amounts.house)}`).sort()).toEqual(
    expected.sort(),
  );
});

it('an AM-settled long does not cover a PM-settled short of its date (D104)', () => {
  const short = leg('-1 C95');
  const long = { ...leg('1 C90'), settlesAt: Instant.ofMs(short.settlesAt - 6 * 3_600_000) };
  expect(regT([short, long]).groups.map(({ strategy }) => strategy)).toEqual(['LONG_CALL', 'NAKED_CALL']);
  expect(
    regT([
      { ...short, settlesAt: long.settlesAt },
      { ...long, settlesAt: short.settlesAt },
    ]).house,
  ).toBe(0);
});

it('contracts that differ in multiplier or deliverable are groups of their own (D101)', () => {
  const short = leg('-1 C95');
  expect(regT([short, { ...leg('1 C90'), deliverable: 150 }]).groups).toHaveLength(2);
  expect(regT([short, { ...leg('1 C90'), multiplier: 10, deliverable: 10 }]).groups).toHaveLength(2);
  expect(regT([short, { ...leg('1 C90'), style: 'EUROPEAN' }]).groups).toHaveLength(2);
});

it('a short box of cash-settled European options requires the cost to close at houses with that rule (D105)', () => {
  const european = { style: 'EUROPEAN', settlement: 'CASH' } as const;
  const price = (text: string, dollarsPerShare: string) => ({
    ...leg(text),
    ...european,
    price:
      leg(text).price &&
      optionLeg({ right: 'CALL', quantity: 1, strike: '1', price: dollarsPerShare, underlyingPrice: '1' })
        .price,
  });
  const box = [price('-1 C95', '8'), price('1 C105', '3'), price('1 P95', '3'), price('-1 P105', '7.90')];
  // 9.90 to close, at 102 % 10.098 a share; the strikes differ by 10.
  expect(dollars(regT(box).house)).toBe(1000);
  const asked = regT(box, { shortBoxCostBps: 10_200 });
  expect(dollars(asked.house)).toBe(1009.8);
  expect(asked.groups[0]?.rule).toContain('102 % of the cost to close');
  const american = box.map((option) => ({ ...option, style: 'AMERICAN' as const }));
  expect(dollars(regT(american, { shortBoxCostBps: 10_200 }).house)).toBe(1000);
});

it('names its rule with the figures', () => {
  const rules = (book: string): string[] => regT(book.split(', ').map(leg)).groups.map(({ rule }) => rule);
  expect(rules('-1 C110')).toEqual([
    'D103, FINRA 4210(f)(2)(E): 30 + max(20 % × 100 − 10, 10 % × 100) = 40 a share',
  ]);
  // 4:3 and 1:3 splits: 0.333333 of a share is paid in cash and counts in U (D89).
  const adjusted = (deliverable: number, inLieu: number, underlyingPrice: string): string | undefined =>
    regT([
      {
        ...leg('-1 C110'),
        deliverable,
        inLieu: Quantity.ofUnits(inLieu),
        underlyingPrice: Price.of(underlyingPrice),
      },
    ]).groups[0]?.rule;
  const ruleOf = (u: string, out: string, total: string): string =>
    `D103, FINRA 4210(f)(2)(E): 30 + max(20 % × ${u} − ${out}, 10 % × ${u}) = ${total} a share`;
  expect(adjusted(133, 333_333, '75')).toBe(ruleOf('99.99999975', '10.00000025', '39.99999998'));
  expect(adjusted(33, 333_333, '300')).toBe(ruleOf('99.999999', '10.000001', '39.9999999'));
  expect(rules('-1 C95, 1 C105')).toEqual([
    'D104, FINRA Regulatory Notice 12-44: loses 1000 at most, at 105',
  ]);
});
