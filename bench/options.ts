/**
 * Time to compute a whole chain: price and Greeks of each of its contracts at a volatility, and the same with the volatility implied in a
 * price first. The size is that of GOOG on 2015-12-24: 2,192 American options, eighteen expirations from a day to two years; half as many
 * strikes far from the money as near it. Once without dividends, as GOOG was, and once with one every three months.
 *
 * Leaves out: reading quotes and writing the answer; instruments are not looked up.
 *
 *   npx tsc -b && npx tsx bench/options.ts        BENCH_CONTRACTS, BENCH_CHAINS
 */
import { conditionsAt, impliedVolatility, optionGreeks } from '@sandpit/core';
import type { Conditions, DividendAhead, OptionTerms } from '@sandpit/core';
import { median, runAlone, sizeOf, stopwatch } from './measure.js';
import type { Row } from './measure.js';

interface Contract {
  readonly terms: OptionTerms;
  readonly conditions: Conditions;
  readonly volatility: number;
}

const SPOT = 748.4;
const RATE = 0.04;
const EXPIRATIONS_DAYS = [1, 8, 15, 22, 29, 36, 43, 50, 57, 85, 113, 141, 176, 211, 239, 302, 386, 757];
const QUARTERLY: readonly DividendAhead[] = Array.from({ length: 8 }, (_, quarter) => ({
  years: 0.07 + quarter / 4,
  amount: 3.5,
}));

function chain(contracts: number, dividends: readonly DividendAhead[]): Contract[] {
  const strikes = Math.ceil(contracts / EXPIRATIONS_DAYS.length / 2);
  const found = EXPIRATIONS_DAYS.flatMap((days) => {
    const conditions = conditionsAt(SPOT, days / 365, RATE, dividends);
    return Array.from({ length: strikes }, (_, index) => {
      const place = strikes === 1 ? 0 : (2 * index) / (strikes - 1) - 1;
      const strike = Math.round(SPOT * (1 + 0.35 * place + 0.15 * place * place * place));
      const volatility = 0.24 - 0.12 * place + 0.08 * place * place;
      return (['CALL', 'PUT'] as const).map((optionType): Contract => ({
        terms: { optionType, style: 'AMERICAN', strike },
        conditions,
        volatility,
      }));
    }).flat();
  });
  return found.slice(0, contracts);
}

function measureChain(
  name: string,
  dividends: readonly DividendAhead[],
  contracts: number,
  times: number,
): Row[] {
  const all = chain(contracts, dividends);
  const prices = all.map(
    ({ terms, conditions, volatility }) => optionGreeks(terms, conditions, volatility).value,
  );
  const greeks: number[] = [];
  const implied: number[] = [];
  let sum = 0;
  // The first rounds are for the compiler.
  for (let round = -3; round < times; round++) {
    const valued = stopwatch();
    for (const { terms, conditions, volatility } of all)
      sum += optionGreeks(terms, conditions, volatility).delta;
    const valuedMs = valued().wallMs;
    const solved = stopwatch();
    for (const [index, { terms, conditions }] of all.entries()) {
      const volatility = impliedVolatility(terms, conditions, prices[index] ?? 0);
      sum += optionGreeks(terms, conditions, volatility).delta;
    }
    if (round < 0) continue;
    greeks.push(valuedMs);
    implied.push(solved().wallMs);
  }
  if (Number.isNaN(sum)) throw new Error('the model has no answer');
  const row = (measure: string, measured: readonly number[], atMost: number): Row => ({
    measure,
    value: median(measured),
    unit: 'ms',
    // A part of a chain says nothing about a whole one.
    ...(contracts >= WHOLE_CHAIN && { aim: { atMost } }),
    details: `median of ${times} chains of ${contracts} American options, ${name}; the fastest ${Math.min(...measured).toFixed(1)} ms`,
    leavesOut: 'reading quotes, looking instruments up, telling the chain',
  });
  return [
    row(`option chain ${name}: price and Greeks`, greeks, 20),
    row(`option chain ${name}: implied volatility, price and Greeks`, implied, 80),
  ];
}

const WHOLE_CHAIN = 2192;

export function measureOptions(): Promise<readonly Row[]> {
  const contracts = sizeOf('CONTRACTS', WHOLE_CHAIN);
  const times = sizeOf('CHAINS', 15);
  return Promise.resolve([
    ...measureChain('without dividends', [], contracts, times),
    ...measureChain('with dividends', QUARTERLY, contracts, times),
  ]);
}

await runAlone(import.meta.url, measureOptions);
