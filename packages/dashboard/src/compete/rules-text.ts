/** The rules of a competition as short sentences. */
import type { CompetitionRules } from '@sandpit/protocol';
import { money, quantity, words } from '../format.ts';

export function rulesText(
  rules: CompetitionRules,
  nameOfBroker: (brokerId: string) => string,
): readonly string[] {
  const { symbols, maxPositionPercent, maxOrdersPerMinute, maxDailyLossPercent, trailingDrawdownPercent } =
    rules;
  return [
    `${words(rules.portfolioType)} portfolio, broker ${nameOfBroker(rules.brokerId)}`,
    rules.assetClasses.map((one) => ASSETS[one]).join(', '),
    symbols === undefined ? undefined : `Only ${symbols.join(', ')}`,
    rules.shortSelling === false ? 'No short sales' : undefined,
    rules.optionLevel === undefined ? undefined : `Option level ${rules.optionLevel}`,
    rules.latencyProfile === undefined ? undefined : `Latency ${words(rules.latencyProfile).toLowerCase()}`,
    rules.fillModel === undefined ? undefined : `Fill model ${rules.fillModel}`,
    rules.minPrice === undefined ? undefined : `Prices of ${money(rules.minPrice)} and more`,
    maxPositionPercent === undefined ? undefined : `Position at most ${maxPositionPercent}% of equity`,
    maxOrdersPerMinute === undefined ? undefined : `${quantity(maxOrdersPerMinute)} orders a minute`,
    maxDailyLossPercent === undefined ? undefined : `Eliminated at a daily loss of ${maxDailyLossPercent}%`,
    trailingDrawdownPercent === undefined
      ? undefined
      : `Eliminated at a drawdown of ${trailingDrawdownPercent}%`,
    (rules.minTrades ?? 1) > 1 ? `Ranked from ${quantity(rules.minTrades)} executions` : undefined,
  ].filter((rule) => rule !== undefined);
}

export const ASSETS = { EQUITY: 'Shares', OPTION: 'Options', FUTURE: 'Futures' } as const;

/** Explains a rank of an entry with a loss above one that did not trade. */
export const unrankedText = (minTrades = 1): string =>
  `Entries without a score, and those with fewer than ${minTrades === 1 ? 'one execution' : `${quantity(minTrades)} executions`}, rank below all scores, by return.`;
