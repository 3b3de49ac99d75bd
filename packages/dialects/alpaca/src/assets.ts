/** Assets and watchlists. */
import { type Instrument, newId } from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import { assetIdOf, isAssetId, type Watchlist } from './alpaca-store.js';
import { forbidden, invalid, notFound } from './refusals.js';
import { AlpacaAnswer, type AlpacaCall, type AlpacaHandler } from './request.js';

const EXCHANGE = 'NASDAQ';
/** The only attribute that assets here have, and its former name. */
const HAS_OPTIONS = 'has_options';
const OPTIONABLE: ReadonlySet<string> = new Set([HAS_OPTIONS, 'options_enabled']);

/** True when options are listed on all stocks. */
const hasOptions = ({ book }: AlpacaCall): boolean => book.market.hasOptions;

function assetOf(call: AlpacaCall, instrument: Instrument) {
  const { symbol, name, shortable, tickSize, assetClass, tradable, fractionable } = instrument;
  const isOption = assetClass === 'OPTION';
  const isShortable = shortable !== false && !isOption;
  return {
    id: assetIdOf(symbol),
    class: isOption ? 'us_option' : 'us_equity',
    cusip: null,
    exchange: EXCHANGE,
    symbol,
    name: name ?? symbol,
    status: 'active',
    tradable: tradable !== false,
    marginable: !isOption,
    maintenance_margin_requirement: 30,
    margin_requirement_long: '30',
    margin_requirement_short: '30',
    shortable: isShortable,
    easy_to_borrow: isShortable,
    borrow_status: isShortable ? 'easy_to_borrow' : 'hard_to_borrow',
    fractionable: !isOption && fractionable !== false,
    attributes: !isOption && hasOptions(call) ? [HAS_OPTIONS] : [],
    ...(tickSize !== undefined && { price_increment: decimal(tickSize) }),
  };
}

const AT_ONCE = 500;

/** Every listed stock. */
async function stocks(call: AlpacaCall): Promise<readonly Instrument[]> {
  const all: Instrument[] = [];
  for (let page = 1; ; page++) {
    const query = { assetClass: 'EQUITY', page: String(page), limit: String(AT_ONCE) };
    const { data, pagination } = await call.book.run('listInstruments', { query });
    all.push(...data);
    if (page >= pagination.totalPages) return all;
  }
}

async function assetNamed(call: AlpacaCall, name: string): Promise<ReturnType<typeof assetOf>> {
  const symbol = isAssetId(name)
    ? (await stocks(call)).find((one) => assetIdOf(one.symbol) === name.toLowerCase())?.symbol
    : name.toUpperCase();
  const found =
    symbol === undefined || symbol === ''
      ? undefined
      : (await call.book.run('listInstruments', { query: { symbol } })).data[0];
  if (found === undefined || found.assetClass === 'FUTURE' || found.assetClass === 'INDEX')
    throw notFound(`asset not found for ${name}`);
  return assetOf(call, found);
}

export const listAssets: AlpacaHandler = async (call) => {
  const { query } = call;
  const status = query.choice('status', ['active', 'inactive', 'all']);
  const isOther = (query.text('asset_class') ?? 'us_equity') !== 'us_equity';
  const exchange = query.text('exchange')?.toUpperCase();
  const attributes = query.list('attributes') ?? [];
  const isNone =
    attributes.length > 0 && !(hasOptions(call) && attributes.some((one) => OPTIONABLE.has(one)));
  if (status === 'inactive' || isOther || isNone || (exchange !== undefined && exchange !== EXCHANGE))
    return [];
  return (await stocks(call)).map((instrument) => assetOf(call, instrument));
};

export const getAsset: AlpacaHandler = (call) => assetNamed(call, call.params['symbol'] ?? '');

const MOST_WATCHLISTS = 200;
const MOST_SYMBOLS = 500;

const headOf = ({ book: { portfolioId } }: AlpacaCall, { id, name, createdAt, updatedAt }: Watchlist) => ({
  id,
  account_id: portfolioId,
  name,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt).toISOString(),
});

async function shown(call: AlpacaCall, watchlist: Watchlist) {
  const assets = [];
  for (const symbol of watchlist.symbols) assets.push(await assetNamed(call, symbol));
  return { ...headOf(call, watchlist), assets };
}

export const listWatchlists: AlpacaHandler = (call) =>
  Promise.resolve(call.kept.watchlists().map((one) => headOf(call, one)));

/** By the id in the path, or by the name in the query. */
function watchlistNamed(call: AlpacaCall): Watchlist {
  const id = call.params['id'];
  const name = call.query.text('name');
  const found = call.kept.watchlists().find((one) => (id === undefined ? one.name === name : one.id === id));
  if (found === undefined) throw notFound('watchlist not found');
  return found;
}

async function symbolsOf(call: AlpacaCall, names: readonly string[]): Promise<readonly string[]> {
  const symbols = [...new Set(names.map((name) => name.toUpperCase()))];
  if (symbols.length > MOST_SYMBOLS) throw invalid(`a watchlist has at most ${MOST_SYMBOLS} symbols`);
  // Each must be there.
  for (const symbol of symbols) await assetNamed(call, symbol);
  return symbols;
}

/** Replaces a watchlist, or removes it. */
async function save(call: AlpacaCall, id: string, watchlist: Watchlist | undefined): Promise<void> {
  const { kept, book } = call;
  if (!book.mayTrade) throw forbidden('the key pair may only read');
  const all = kept.watchlists();
  if (watchlist !== undefined && all.some((one) => one.id !== id && one.name === watchlist.name))
    throw invalid('watchlist name must be unique');
  const isNew = all.every((one) => one.id !== id);
  const changed = watchlist === undefined ? [] : [watchlist];
  const saved = isNew ? [...all, ...changed] : all.flatMap((one) => (one.id === id ? changed : [one]));
  if (saved.length > MOST_WATCHLISTS) throw invalid(`an account has at most ${MOST_WATCHLISTS} watchlists`);
  await kept.saveWatchlists(saved);
}

const MOST_NAME = 64;

function nameIn({ body }: AlpacaCall): string | undefined {
  const name = body.text('name');
  if (name !== undefined && name.length > MOST_NAME) throw invalid('name must be at most 64 characters');
  return name;
}

export const createWatchlist: AlpacaHandler = async (call) => {
  const name = nameIn(call);
  if (name === undefined) throw invalid('name is required');
  const symbols = await symbolsOf(call, call.body.list('symbols') ?? []);
  const now = Date.now();
  const watchlist = { id: newId(), name, createdAt: now, updatedAt: now, symbols };
  await save(call, watchlist.id, watchlist);
  return shown(call, watchlist);
};

export const getWatchlist: AlpacaHandler = (call) => shown(call, watchlistNamed(call));

async function changed(
  call: AlpacaCall,
  change: Partial<Pick<Watchlist, 'name' | 'symbols'>>,
): Promise<object> {
  const before = watchlistNamed(call);
  const after = { ...before, ...change, updatedAt: Date.now() };
  await save(call, before.id, after);
  return shown(call, after);
}

export const updateWatchlist: AlpacaHandler = async (call) => {
  const name = nameIn(call);
  const symbols = call.body.list('symbols');
  return changed(call, {
    ...(name !== undefined && { name }),
    ...(symbols !== undefined && { symbols: await symbolsOf(call, symbols) }),
  });
};

export const addToWatchlist: AlpacaHandler = async (call) => {
  const symbol = call.body.text('symbol');
  if (symbol === undefined) throw invalid('symbol is required');
  const { symbols } = watchlistNamed(call);
  return changed(call, { symbols: await symbolsOf(call, [...symbols, symbol]) });
};

export const removeFromWatchlist: AlpacaHandler = async (call) => {
  const { symbols } = watchlistNamed(call);
  const symbol = (call.params['symbol'] ?? '').toUpperCase();
  if (!symbols.includes(symbol)) throw notFound(`${symbol} is not on the watchlist`);
  return changed(call, { symbols: symbols.filter((one) => one !== symbol) });
};

export const deleteWatchlist: AlpacaHandler = async (call) => {
  await save(call, watchlistNamed(call).id, undefined);
  return new AlpacaAnswer(204);
};
