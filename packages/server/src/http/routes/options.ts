import { type Brokerage, Price, TradingDate } from '@sandpit/core';
import type { OptionContract, Quote } from '@sandpit/core';
import type { OptionChainContract } from '@sandpit/protocol';
import { refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { expirationsOn, optionsExpiring, symbolIn } from '../listed.js';
import { priceNumber, priceOf, quantityNumber } from '../translate/numbers.js';

type OptionHandlers = Pick<Handlers, 'listOptionExpirations' | 'getOptionChain'>;

const SYMBOL_NOT_FOUND = refuse(404, 'Symbol not found');
const NO_OPTIONS = refuse(404, 'No options listed');

/** Chains (D73). */
export const optionHandlers: OptionHandlers = {
  listOptionExpirations({ simulation, params }) {
    const underlying = symbolIn(simulation, params.underlying);
    return simulation.read([], (brokerage) => {
      const now = simulation.now();
      if (brokerage.instrument(underlying, now) === undefined) return SYMBOL_NOT_FOUND;
      return { underlying, expirations: expirationsOn(brokerage, underlying, now) };
    });
  },

  async getOptionChain({ simulation, params, query }) {
    const underlying = symbolIn(simulation, params.underlying);
    const now = simulation.now();
    // Which contracts there are depends on where the underlying stands.
    const listed = await simulation.read(
      [],
      (brokerage) => {
        if (brokerage.instrument(underlying, now) === undefined) return SYMBOL_NOT_FOUND;
        const expiration =
          query.expiration === undefined
            ? expirationsOn(brokerage, underlying, now)[0]
            : TradingDate.of(query.expiration);
        if (expiration === undefined) return NO_OPTIONS;
        const contracts = optionsExpiring(brokerage, underlying, expiration, now);
        return { expiration, contracts: contracts.filter(isAskedFor(query)) };
      },
      [underlying],
    );
    if (!('contracts' in listed)) return listed;
    const { expiration, contracts } = listed;
    return simulation.read(
      [],
      (brokerage) => {
        const mark = brokerage.mark(underlying);
        return {
          underlying,
          ...(mark !== undefined && { underlyingPrice: priceNumber(mark) }),
          expiration,
          contracts: contracts.map((contract) => chainContract(brokerage, contract)),
        };
      },
      contracts.map(({ symbol }) => symbol),
    );
  },
};

/** Which of a chain's contracts a query wants; both bounds are included. */
function isAskedFor(query: {
  readonly optionType?: 'CALL' | 'PUT';
  readonly minStrike?: number;
  readonly maxStrike?: number;
}): (contract: OptionContract) => boolean {
  const low = query.minStrike === undefined ? Price.ofUnits(0) : priceOf(query.minStrike);
  const high = query.maxStrike === undefined ? Infinity : priceOf(query.maxStrike);
  return ({ optionType, strike }) =>
    (query.optionType === undefined || query.optionType === optionType) && strike >= low && strike <= high;
}

function chainContract(brokerage: Brokerage, contract: OptionContract): OptionChainContract {
  const { symbol, optionType, strike, expiration, multiplier, style, settlement } = contract;
  const { bid, ask, bidSize, askSize, last }: Partial<Quote> = brokerage.quote(symbol) ?? {};
  const mark = brokerage.mark(symbol);
  return {
    optionSymbol: symbol,
    optionType,
    strike: priceNumber(strike),
    expiration,
    multiplier,
    style,
    settlement,
    ...(mark !== undefined && { price: priceNumber(mark) }),
    ...(bid !== undefined && { bid: priceNumber(bid) }),
    ...(ask !== undefined && { ask: priceNumber(ask) }),
    ...(bidSize !== undefined && { bidSize: quantityNumber(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityNumber(askSize) }),
    ...(last !== undefined && { last: priceNumber(last) }),
  };
}
