/** Option contracts and their data. */
import { Money, type OptionContract, seedOf, tickClassOf, TradingDate, uniform } from '@sandpit/core';
import {
  latestBars,
  type OptionChainContract,
  optionClose,
  previousClose,
  type Quote,
  Refused,
} from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import { assetIdOf, contractOfId, isAssetId } from './alpaca-store.js';
import {
  barShape,
  barsOfSymbols,
  bySymbol,
  optionQuoteShape,
  optionTradeShape,
  quotesOf,
  symbolsOf,
} from './market-data.js';
import { invalid, notFound, translated, unprocessable } from './refusals.js';
import type { AlpacaCall, AlpacaHandler, Fields } from './request.js';

/** A contract of a chain, with its underlying. */
interface ContractWithUnderlying {
  readonly underlying: string;
  readonly contract: OptionChainContract;
}

/** The last completed session, and the close of an underlying in it. */
interface PreviousSession {
  readonly date: string;
  readonly underlyingClose: number | undefined;
}

async function sessionBefore(call: AlpacaCall, underlying: string): Promise<PreviousSession> {
  const { book } = call;
  const { calendar } = book;
  return {
    date: calendar.previousTradingDay(calendar.dateOf(book.now())),
    underlyingClose: await previousClose(book, underlying),
  };
}

const INTEREST_AT_THE_MONEY = 6000;
const INTEREST_OF_ANY = 150;
/** Distance from the money, as a fraction of the price, at which the interest is down to a third. */
const INTEREST_WIDTH = 0.12;

/** Open interest: recorded, or synthetic for a synthetic market. Largest at the money, and constant for a day. */
function openInterestOf({ book }: AlpacaCall, contract: OptionChainContract, before: PreviousSession) {
  if (contract.openInterest !== undefined || !book.market.isComputed) return contract.openInterest;
  const distance = Math.log(contract.strike / (before.underlyingClose ?? contract.strike)) / INTEREST_WIDTH;
  const chance = 0.4 + 1.2 * uniform(0, seedOf(contract.optionSymbol), 0);
  return Math.round(chance * (INTEREST_OF_ANY + INTEREST_AT_THE_MONEY * Math.exp(-(distance ** 2))));
}

async function contractShape(
  call: AlpacaCall,
  { underlying, contract }: ContractWithUnderlying,
  before: PreviousSession,
) {
  const { optionSymbol, expiration, strike, optionType, style, multiplier, price } = contract;
  const openInterest = openInterestOf(call, contract, before);
  const close = await optionClose(call.book, optionSymbol);
  const [year, month, day] = expiration.split('-').map(Number);
  const name = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day)).toLocaleDateString('en-US', {
    month: 'short',
    day: '2-digit',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return {
    id: assetIdOf(optionSymbol),
    symbol: optionSymbol,
    name: `${underlying} ${name} ${decimal(strike)} ${optionType === 'CALL' ? 'Call' : 'Put'}`,
    status: 'active',
    tradable: true,
    expiration_date: expiration,
    root_symbol: rootOf(contract),
    underlying_symbol: underlying,
    underlying_asset_id: assetIdOf(underlying),
    type: optionType.toLowerCase(),
    style: style.toLowerCase(),
    strike_price: decimal(strike),
    multiplier: decimal(multiplier),
    size: decimal(multiplier),
    ...(openInterest !== undefined && {
      open_interest: decimal(openInterest),
      open_interest_date: before.date,
    }),
    ...(close !== undefined
      ? { close_price: decimal(close), close_price_date: before.date }
      : price !== undefined && { close_price: decimal(price), close_price_date: today(call) }),
    ...(call.query.flag('show_deliverables') && { deliverables: deliverablesOf(call, underlying, contract) }),
  };
}

const today = ({ book }: AlpacaCall): string => book.calendar.dateOf(book.now());

function deliverablesOf({ book }: AlpacaCall, underlying: string, contract: OptionChainContract) {
  const option = book.instrument(contract.optionSymbol);
  if (option?.assetClass === 'OPTION' && (option.cash !== undefined || option.others !== undefined))
    return componentsOf(option);
  const isSettledInCash = book.instrument(underlying)?.assetClass === 'INDEX';
  const common = { settlement_type: 'T+1', delayed_settlement: false, allocation_percentage: '100' };
  const stock = {
    ...common,
    type: 'equity',
    symbol: underlying,
    asset_id: assetIdOf(underlying),
    amount: decimal(option?.assetClass === 'OPTION' ? option.deliverable : contract.multiplier),
    settlement_method: 'CCC',
  };
  const cash = { ...common, type: 'cash', symbol: 'USD', amount: '0', settlement_method: 'CADF' };
  return option === undefined ? [] : [isSettledInCash ? cash : stock];
}

/** Deliverables of a contract that a corporate action has adjusted, one row for each component. */
function componentsOf({ underlying, deliverable, others = [], cash }: OptionContract) {
  const common = { settlement_type: 'T+1', delayed_settlement: false };
  const shares = [{ symbol: underlying, shares: deliverable }, ...others].filter((one) => one.shares > 0);
  return [
    ...shares.map((one) => ({
      ...common,
      type: 'equity',
      symbol: one.symbol,
      asset_id: assetIdOf(one.symbol),
      amount: decimal(one.shares),
      settlement_method: 'CCC',
    })),
    ...(cash === undefined
      ? []
      : [
          {
            ...common,
            type: 'cash',
            symbol: 'USD',
            amount: Money.format(cash),
            settlement_method: 'CADF',
          },
        ]),
  ];
}

/** Query of `/v1` for the part of a chain that a request selects. */
function chainQuery(query: Fields): Readonly<Record<string, string>> {
  const type = query.choice('type', ['call', 'put']);
  const low = query.number('strike_price_gte');
  const high = query.number('strike_price_lte');
  return {
    ...(type !== undefined && { optionType: type.toUpperCase() }),
    ...(low !== undefined && { minStrike: decimal(low) }),
    ...(high !== undefined && { maxStrike: decimal(high) }),
  };
}

/** The requested expirations on an underlying, soonest first. */
async function expirationsOf(call: AlpacaCall, underlying: string, latest: string | undefined) {
  const { query } = call;
  const { expirations } = await call.book.run('listOptionExpirations', {
    params: { underlying },
  });
  const exact = query.date('expiration_date');
  const from = exact ?? query.date('expiration_date_gte') ?? '';
  const to = exact ?? query.date('expiration_date_lte') ?? latest ?? '9999';
  return expirations.filter((date) => date >= from && date <= to);
}

async function chainOf(
  call: AlpacaCall,
  underlying: string,
  expiration: string,
): Promise<readonly ContractWithUnderlying[]> {
  const query = { expiration, ...chainQuery(call.query) };
  const root = call.query.text('root_symbol')?.toUpperCase();
  const style = call.query.choice('style', ['american', 'european'])?.toUpperCase();
  const isPenny = call.query.has('ppind') ? call.query.flag('ppind') : undefined;
  const { contracts } = await call.book.run('getOptionChain', { params: { underlying }, query });
  return contracts
    .filter(
      (contract) =>
        (root === undefined || rootOf(contract) === root) &&
        (style === undefined || contract.style === style) &&
        (isPenny === undefined || isInPennyProgram(contract) === isPenny),
    )
    .map((contract) => ({ underlying, contract }));
}

const rootOf = ({ optionSymbol }: OptionChainContract): string =>
  /^[A-Z0-9.]+?(?=\d{6}[CP])/.exec(optionSymbol)?.[0] ?? '';

const isInPennyProgram = (contract: OptionChainContract): boolean =>
  tickClassOf(rootOf(contract)) !== 'NICKEL';

/** Chains that are read for one page; a page may have fewer contracts than requested. */
const MOST_CHAINS = 100;

/**
 * A page of contracts: whole expirations until there are enough. The token names the next underlying and expiration, and how many of its
 * contracts have been listed already.
 */
async function page(
  call: AlpacaCall,
  underlyings: readonly string[],
  latest: string | undefined,
  limit: number,
) {
  const token = call.query.text('page_token');
  const [symbol = '', from = '', skip = '0'] = (token ?? '').split('|');
  const begin = token === undefined ? 0 : underlyings.indexOf(symbol);
  if (begin < 0 || !/^\d{1,9}$/.test(skip)) throw invalid('invalid page_token');
  const found: ContractWithUnderlying[] = [];
  let chains = 0;
  for (const underlying of underlyings.slice(begin)) {
    const isResumed = underlying === symbol;
    for (const expiration of await expirationsOf(call, underlying, latest)) {
      if (isResumed && expiration < from) continue;
      const told = isResumed && expiration === from ? Number(skip) : 0;
      if (chains === MOST_CHAINS) return { found, next: `${underlying}|${expiration}|${told}` };
      chains += 1;
      const chain = (await chainOf(call, underlying, expiration)).slice(told);
      const room = limit - found.length;
      found.push(...chain.slice(0, room));
      if (chain.length > room) return { found, next: `${underlying}|${expiration}|${told + room}` };
    }
  }
  return { found, next: null };
}

/** Everything that options are listed on, in order. */
function allUnderlyings({ book }: AlpacaCall): readonly string[] {
  if (book.market.isLive) throw unprocessable('underlying_symbols is required');
  const symbols = book.market
    .listed()
    .map((instrument) => (instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol));
  return [...new Set(symbols)].sort();
}

const SATURDAY = 6;

/** Without a last date, those that expire before the next weekend. */
function nextWeekend({ book }: AlpacaCall): string {
  const date = book.calendar.dateOf(book.now());
  const day = new Date(date).getUTCDay();
  return TradingDate.plusDays(date, day >= SATURDAY - 1 ? SATURDAY + 7 - day : SATURDAY - day);
}

export const listContracts: AlpacaHandler = async (call) => {
  const { query } = call;
  const named = (query.list('underlying_symbols') ?? []).map((symbol) => symbol.toUpperCase());
  if (named.length > 20) throw invalid('at most 20 underlying_symbols');
  const underlyings = named.length === 0 ? allUnderlyings(call) : named;
  const limit = query.integer('limit', 1, 10_000) ?? 100;
  if (query.choice('status', ['active', 'inactive']) === 'inactive')
    return { option_contracts: [], next_page_token: null };
  try {
    const latest = query.has('expiration_date_gte') ? undefined : nextWeekend(call);
    const { found, next } = await page(call, underlyings, latest, limit);
    const option_contracts = [];
    const before = new Map<string, PreviousSession>();
    for (const listed of found) {
      const { underlying } = listed;
      const session = before.get(underlying) ?? (await sessionBefore(call, underlying));
      before.set(underlying, session);
      option_contracts.push(await contractShape(call, listed, session));
    }
    return { option_contracts, next_page_token: next };
  } catch (error) {
    if (error instanceof Refused && error.status === 404)
      return { option_contracts: [], next_page_token: null };
    throw error;
  }
};

/** The contract that a symbol names. */
async function contractNamed(call: AlpacaCall, symbol: string): Promise<ContractWithUnderlying | undefined> {
  const { data } = await call.book.run('listInstruments', { query: { symbol } });
  const [option] = data;
  if (option?.assetClass !== 'OPTION') return undefined;
  const { underlying, expiration, strike, optionType } = option;
  if (underlying === undefined || expiration === undefined || strike === undefined) return undefined;
  const query = {
    expiration,
    minStrike: decimal(strike),
    maxStrike: decimal(strike),
    ...(optionType !== undefined && { optionType }),
  };
  try {
    const chain = await call.book.run('getOptionChain', { params: { underlying }, query });
    const contract = chain.contracts.find((one) => one.optionSymbol === option.symbol);
    return contract === undefined ? undefined : { underlying, contract };
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}

export const getContract: AlpacaHandler = async (call) => {
  const name = (call.params['symbol'] ?? '').toUpperCase();
  const symbol = isAssetId(name) ? contractOfId(name) : name;
  const found = symbol === undefined ? undefined : await contractNamed(call, symbol);
  if (found === undefined) throw notFound(`option contract not found for ${name}`);
  return contractShape(call, found, await sessionBefore(call, found.underlying));
};

const snapshotShape = (contract: OptionChainContract, quote: Quote | undefined) => {
  const { impliedVolatility, delta, gamma, theta, vega, rho } = contract;
  const trade = quote === undefined ? undefined : optionTradeShape(quote);
  return {
    ...(quote !== undefined && { latestQuote: optionQuoteShape(quote) }),
    ...(trade !== undefined && { latestTrade: trade }),
    // Both or neither: clients read the volatility wherever there are Greeks.
    ...(impliedVolatility !== undefined &&
      delta !== undefined && { impliedVolatility, greeks: { delta, gamma, theta, vega, rho } }),
  };
};

/** False for a quote from before the time in `updated_since`. */
function isUpdated({ query }: AlpacaCall, quote: Quote | undefined): boolean {
  const since = query.instant('updated_since');
  return since === undefined || (quote !== undefined && quote.timestamp >= since);
}

export const optionSnapshots: AlpacaHandler = async (call) => {
  const symbols = symbolsOf(call);
  const limit = call.query.integer('limit', 1, 1000) ?? 100;
  const token = call.query.text('page_token');
  const begin = token === undefined ? 0 : symbols.indexOf(token);
  if (begin < 0) throw invalid('invalid page_token');
  const some = symbols.slice(begin, begin + limit);
  const quotes = await quotesOf(call, some);
  const found: [string, object][] = [];
  for (const symbol of some) {
    const listed = await contractNamed(call, symbol);
    const quote = quotes.get(symbol);
    if (listed !== undefined && isUpdated(call, quote))
      found.push([symbol, snapshotShape(listed.contract, quote)]);
  }
  return { snapshots: bySymbol(found), next_page_token: symbols[begin + limit] ?? null };
};

export const optionChain: AlpacaHandler = async (call) => {
  const underlying = (call.params['underlying'] ?? '').toUpperCase();
  const limit = call.query.integer('limit', 1, 1000) ?? 100;
  try {
    const { found, next } = await page(call, [underlying], undefined, limit);
    const quotes = await quotesOf(
      call,
      found.map(({ contract }) => contract.optionSymbol),
    );
    const updated = found.filter(({ contract }) => isUpdated(call, quotes.get(contract.optionSymbol)));
    const snapshots = updated.map(
      ({ contract }) =>
        [contract.optionSymbol, snapshotShape(contract, quotes.get(contract.optionSymbol))] as const,
    );
    return { snapshots: bySymbol(snapshots), next_page_token: next };
  } catch (error) {
    throw error instanceof Refused ? translated(error, underlying) : error;
  }
};

export const optionBars: AlpacaHandler = (call) => barsOfSymbols(call, symbolsOf(call));

export const latestOptionBars: AlpacaHandler = async (call) => {
  const found: [string, object | undefined][] = [];
  for (const symbol of symbolsOf(call)) {
    const [bar] = await latestBars(call.book, symbol, '1Min', 1);
    found.push([symbol, bar && barShape(bar)]);
  }
  return { bars: bySymbol(found) };
};
