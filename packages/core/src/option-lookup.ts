import { isInOptionValues } from './corporate-actions/corporate-action.js';
import type { Dividend } from './corporate-actions/corporate-action.js';
import { withOthersInCash } from './instruments/exercise-value.js';
import type { OptionContract } from './instruments/option.js';
import { markOf } from './market/quote.js';
import type { OptionMarket } from './options/option-market.js';
import type { Rules } from './rules.js';
import type { State } from './state.js';
import type { TradingDate } from './values/trading-date.js';

/** Inputs of option valuation from state and rules. The caller provides quotes and instruments, so that it can note its reads. */
export function optionMarketOf(
  state: State,
  rules: Rules,
  { at, quote, instrument }: Pick<OptionMarket, 'at' | 'quote' | 'instrument'>,
): OptionMarket {
  return {
    at,
    calendar: rules.calendar,
    riskFreeRate: rules.riskFreeRate,
    ...(rules.components !== undefined && { components: rules.components }),
    quote,
    // Shares of other symbols that a contract delivers count at their marks (D208).
    instrument: (symbol) => {
      const found = instrument(symbol);
      if (found?.assetClass !== 'OPTION' || found.others === undefined) return found;
      return withOthersInCash(found, (other) => {
        const told = quote(other);
        return told && markOf(told);
      });
    },
    dividendsOn: (symbol) => dividendsOn(state, symbol),
    optionsListed: (underlying, expiration) =>
      optionsListed(state, rules, underlying, expiration, rules.calendar.dateOf(at)),
  };
}

function dividendsOn({ actions }: State, symbol: string): Dividend[] {
  const dividends: Dividend[] = [];
  for (const { action, status } of actions.values()) {
    if (isInOptionValues(action) && action.symbol === symbol && status === 'ANNOUNCED')
      dividends.push(action);
  }
  return dividends;
}

/** Contracts listed by commands take precedence over those of the feed. */
function* optionsListed(
  { listed, adjusted }: State,
  { instruments }: Rules,
  underlying: string,
  expiration: TradingDate,
  today: TradingDate,
): Generator<OptionContract> {
  for (const contract of instruments.optionsListed(underlying, today)) {
    const { symbol } = contract;
    if (contract.expiration === expiration && !listed.has(symbol) && !adjusted.has(symbol)) yield contract;
  }
  for (const instrument of listed.values()) {
    if (
      instrument.assetClass === 'OPTION' &&
      !adjusted.has(instrument.symbol) &&
      instrument.underlying === underlying &&
      instrument.expiration === expiration
    )
      yield instrument;
  }
}
