/** Option contracts and their data. */
import type { OptionChainContract, Quote } from '@sandpit/protocol';
import { Refused } from '../operations.js';
import { latestBars } from './bars.js';
import { decimal } from './decimals.js';
import { assetIdOf, isAssetId } from './kept.js';
import {
  barShape,
  barsOfSymbols,
  bySymbol,
  quoteShape,
  quotesOf,
  symbolsOf,
  tradeShape,
} from './market-data.js';
import { invalid, notFound, translated, unprocessable } from './refusals.js';
import type { AlpacaCall, AlpacaHandler, Fields } from './request.js';

/** A contract of a chain, with what it is on. */
interface Listed {
  readonly underlying: string;
  readonly contract: OptionChainContract;
}

function contractShape({ underlying, contract }: Listed) {
  const { optionSymbol, expiration, strike, optionType, style, multiplier, openInterest, price } = contract;
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
    root_symbol: /^[A-Z0-9.]+?(?=\d{6}[CP])/.exec(optionSymbol)?.[0] ?? underlying,
    underlying_symbol: underlying,
    underlying_asset_id: assetIdOf(underlying),
    type: optionType.toLowerCase(),
    style: style.toLowerCase(),
    strike_price: decimal(strike),
    multiplier: decimal(multiplier),
    size: decimal(multiplier),
    open_interest: openInterest === undefined ? null : decimal(openInterest),
    open_interest_date: null,
    close_price: price === undefined ? null : decimal(price),
    close_price_date: null,
  };
}

/** What of a chain a request wants. */
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

/** The expirations on an underlying that a request wants, soonest first. */
async function expirationsOf(call: AlpacaCall, underlying: string, latest: string | undefined) {
  const { query } = call;
  const { expirations } = await call.operations.run(call, 'listOptionExpirations', {
    params: { underlying },
  });
  const exact = query.date('expiration_date');
  const from = exact ?? query.date('expiration_date_gte') ?? '';
  const to = exact ?? query.date('expiration_date_lte') ?? latest ?? '9999';
  return expirations.filter((date) => date >= from && date <= to);
}

async function chainOf(call: AlpacaCall, underlying: string, expiration: string): Promise<readonly Listed[]> {
  const query = { expiration, ...chainQuery(call.query) };
  const { contracts } = await call.operations.run(call, 'getOptionChain', { params: { underlying }, query });
  return contracts.map((contract) => ({ underlying, contract }));
}

/**
 * A page of contracts: whole expirations until there are enough. The token names the underlying and the expiration that come next, and
 * how many of that are told already.
 */
async function page(
  call: AlpacaCall,
  underlyings: readonly string[],
  latest: string | undefined,
  limit: number,
) {
  const [symbol, from = '', skip = '0'] = (call.query.text('page_token') ?? '').split('|');
  const found: Listed[] = [];
  const begin = Math.max(0, underlyings.indexOf(symbol ?? ''));
  for (const underlying of underlyings.slice(begin)) {
    const isResumed = underlying === symbol;
    for (const expiration of await expirationsOf(call, underlying, latest)) {
      if (isResumed && expiration < from) continue;
      const told = isResumed && expiration === from ? Number(skip) || 0 : 0;
      const chain = (await chainOf(call, underlying, expiration)).slice(told);
      const room = limit - found.length;
      found.push(...chain.slice(0, room));
      if (chain.length > room) return { found, next: `${underlying}|${expiration}|${told + room}` };
    }
  }
  return { found, next: null };
}

const DAY_MS = 86_400_000;

/** Without a last date those that expire by the coming weekend, as there. */
function comingWeekend({ simulation }: AlpacaCall): string {
  const now = simulation.now();
  const day = new Date(now).getUTCDay();
  return new Date(now + ((7 - day) % 7) * DAY_MS).toISOString().slice(0, 10);
}

export const listContracts: AlpacaHandler = async (call) => {
  const { query } = call;
  const underlyings = (query.list('underlying_symbols') ?? []).map((symbol) => symbol.toUpperCase());
  if (underlyings.length === 0) throw unprocessable('underlying_symbols is required');
  if (underlyings.length > 20) throw invalid('at most 20 underlying_symbols');
  const limit = query.integer('limit', 1, 10_000) ?? 100;
  if (query.choice('status', ['active', 'inactive']) === 'inactive')
    return { option_contracts: [], next_page_token: null };
  try {
    const latest = query.has('expiration_date_gte') ? undefined : comingWeekend(call);
    const { found, next } = await page(call, underlyings, latest, limit);
    return { option_contracts: found.map(contractShape), next_page_token: next };
  } catch (error) {
    if (error instanceof Refused && error.status === 404)
      return { option_contracts: [], next_page_token: null };
    throw error;
  }
};

/** The contract that a symbol names. */
async function contractNamed(call: AlpacaCall, symbol: string): Promise<Listed | undefined> {
  const { data } = await call.operations.run(call, 'listInstruments', { query: { symbol } });
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
    const chain = await call.operations.run(call, 'getOptionChain', { params: { underlying }, query });
    const contract = chain.contracts.find((one) => one.optionSymbol === option.symbol);
    return contract === undefined ? undefined : { underlying, contract };
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}

export const getContract: AlpacaHandler = async (call) => {
  const symbol = (call.params['symbol'] ?? '').toUpperCase();
  const found = isAssetId(symbol) ? undefined : await contractNamed(call, symbol);
  if (found === undefined) throw notFound(`option contract not found for ${symbol}`);
  return contractShape(found);
};

const snapshotShape = (contract: OptionChainContract, quote: Quote | undefined) => {
  const { impliedVolatility, delta, gamma, theta, vega } = contract;
  const trade = quote === undefined ? undefined : tradeShape(quote);
  return {
    ...(quote !== undefined && { latestQuote: quoteShape(quote) }),
    ...(trade !== undefined && { latestTrade: trade }),
    ...(impliedVolatility !== undefined && { impliedVolatility }),
    ...(delta !== undefined && { greeks: { delta, gamma, theta, vega, rho: 0 } }),
  };
};

export const optionSnapshots: AlpacaHandler = async (call) => {
  const symbols = symbolsOf(call);
  const quotes = await quotesOf(call, symbols);
  const found: [string, object][] = [];
  for (const symbol of symbols) {
    const listed = await contractNamed(call, symbol);
    if (listed !== undefined) found.push([symbol, snapshotShape(listed.contract, quotes.get(symbol))]);
  }
  return { snapshots: bySymbol(found), next_page_token: null };
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
    const snapshots = found.map(
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
    const [bar] = await latestBars(call, symbol, '1Min', 1);
    found.push([symbol, bar && barShape(bar)]);
  }
  return { bars: bySymbol(found) };
};
