/** Watchlists of a credential's simulation. */
import { type Desk, newId, slashedSymbol } from '@sandpit/dialect-port';
import { symbolsIn } from './markets.js';
import { invalid, TradierRefusal } from './refusals.js';
import { answering, type TradierCall } from './request.js';
import { items, oneOrMany, plainText } from './wire.js';

interface Watchlist {
  readonly id: string;
  readonly name: string;
  readonly publicId: string;
  readonly symbols: readonly string[];
}

const KEPT = 'tradier/watchlists';
const MOST_LISTS = 200;
const MOST_SYMBOLS = 500;

const listsOf = ({ keep }: Desk): readonly Watchlist[] =>
  JSON.parse(keep.get(KEPT) ?? '[]') as readonly Watchlist[];

const head = ({ name, id, publicId }: Watchlist) => ({ name, id, public_id: publicId });

const shown = (list: Watchlist) => ({
  ...head(list),
  items:
    list.symbols.length === 0
      ? 'null'
      : {
          item: oneOrMany(
            list.symbols.map((symbol) => ({ symbol: slashedSymbol(symbol), id: symbol.toLowerCase() })),
          ),
        },
});

function listNamed({ desk, params }: TradierCall): Watchlist {
  const found = listsOf(desk).find(({ id }) => id === params['id']?.toLowerCase());
  if (found === undefined) throw new TradierRefusal(plainText(404, 'watchlist not found'));
  return found;
}

/** Replaces or adds a watchlist; undefined deletes it. */
async function save({ desk }: TradierCall, id: string, list: Watchlist | undefined): Promise<void> {
  if (!desk.mayTrade) throw new TradierRefusal(plainText(403, 'Insufficient scope of the access token'));
  const others = listsOf(desk).filter((one) => one.id !== id);
  const all = list === undefined ? others : [...others, list];
  if (all.length > MOST_LISTS) throw invalid('name', `must be one of at most ${MOST_LISTS} watchlists`);
  await desk.keep.save(KEPT, JSON.stringify(all));
}

function symbolsOf({ desk }: TradierCall, names: readonly string[]): readonly string[] {
  const symbols = [...new Set(symbolsIn(names))];
  if (symbols.length > MOST_SYMBOLS) throw invalid('symbols', `must be at most ${MOST_SYMBOLS}`);
  const unknown = symbols.find((symbol) => desk.instrument(symbol) === undefined);
  if (unknown !== undefined) throw invalid('symbols', `${unknown.slice(0, 30)} not found`);
  return symbols;
}

function nameIn({ fields }: TradierCall): string {
  const name = fields.required('name');
  if (name.length > 64 || !/[\p{L}\p{N}]/u.test(name)) throw invalid('name', 'must be 1 to 64 characters');
  return name;
}

async function changed(call: TradierCall, change: Partial<Watchlist>): Promise<object> {
  const list = { ...listNamed(call), ...change };
  await save(call, list.id, list);
  return shown(list);
}

const all = ({ desk }: TradierCall) => items('watchlist', listsOf(desk).map(head));

export const listWatchlists = answering([], 'watchlists', (call) => Promise.resolve(all(call)));
export const getWatchlist = answering([], 'watchlist', (call) => Promise.resolve(shown(listNamed(call))));

export const createWatchlist = answering(['name', 'symbols'], 'watchlist', async (call) => {
  const name = nameIn(call);
  const symbols = symbolsOf(call, call.fields.list('symbols'));
  const slug = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  if (listsOf(call.desk).some(({ id }) => id === slug)) throw invalid('name', 'must be unique');
  const list = { id: slug, name, publicId: `public-${newId().slice(0, 10)}`, symbols };
  await save(call, slug, list);
  return shown(list);
});

export const updateWatchlist = answering(['name', 'symbols'], 'watchlist', (call) => {
  const { fields } = call;
  const symbols = fields.text('symbols');
  return changed(call, {
    name: nameIn(call),
    ...(symbols !== undefined && { symbols: symbolsOf(call, fields.list('symbols')) }),
  });
});

export const addSymbols = answering(['symbols'], 'watchlist', (call) =>
  changed(call, { symbols: symbolsOf(call, [...listNamed(call).symbols, ...call.fields.list('symbols')]) }),
);

export const removeSymbol = answering([], 'watchlist', (call) => {
  const [symbol] = symbolsIn([call.params['symbol'] ?? '']);
  return changed(call, { symbols: listNamed(call).symbols.filter((one) => one !== symbol) });
});

export const deleteWatchlist = answering([], 'watchlists', async (call) => {
  await save(call, listNamed(call).id, undefined);
  return all(call);
});
