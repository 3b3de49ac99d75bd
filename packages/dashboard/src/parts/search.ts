/** Results of the search: symbols and companies, portfolios and orders. */
import { AnswerError } from '@sandpit/client';
import type { Instrument, Order } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { portfoliosOf } from './portfolio-choice.tsx';
import { hrefOf } from '../route.ts';

export interface Hit {
  readonly id: string;
  readonly title: string;
  /** `Symbol`, `Portfolio`, `Page`: shown next to the title. */
  readonly kind: string;
  readonly href?: string;
  readonly act?: () => void;
  /** Typed as a whole, this is it. */
  readonly exact?: string;
}

const MOST = 12;

/** The hits for a text; of no text none. */
export async function search(broker: Broker, text: string): Promise<readonly Hit[]> {
  const wanted = text.trim();
  if (wanted === '') return [];
  const { simulationId } = broker;
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(wanted)) return byId(broker, wanted);
  const lower = wanted.toLowerCase();
  const [instruments, portfolios, orders] = await Promise.all([
    instrumentsOf(broker),
    portfoliosOf(broker, undefined),
    ordersBeginning(broker, lower),
  ]);
  const symbols = instruments
    .filter(
      ({ symbol, name }) =>
        symbol.toLowerCase().startsWith(lower) || name?.toLowerCase().includes(lower) === true,
    )
    .slice(0, MOST)
    .map(({ symbol, name }) => ({
      id: `symbol ${symbol}`,
      title: name === undefined ? symbol : `${symbol} · ${name}`,
      kind: 'Symbol',
      exact: symbol,
      href: hrefOf(simulationId, `trade/${encodeURIComponent(symbol)}`),
    }));
  const own = portfolios
    .filter(({ name, portfolioId }) => `${name ?? ''} ${portfolioId}`.toLowerCase().includes(lower))
    .slice(0, MOST)
    .map(({ portfolioId, name }) => ({
      id: `portfolio ${portfolioId}`,
      title: name ?? portfolioId.slice(0, 8),
      kind: 'Portfolio',
      href: hrefOf(simulationId, `portfolio/${portfolioId}`),
    }));
  // An unlisted contract, found by its symbol.
  const typed = wanted.toUpperCase();
  const isSymbol = /^[A-Z][A-Z0-9.]*$/.test(typed) && !symbols.some(({ exact }) => exact === typed);
  return [
    ...symbols,
    ...own,
    ...orders.map((order) => hitOf(broker, order)),
    ...(isSymbol
      ? [
          {
            id: `symbol ${typed}`,
            title: typed,
            kind: 'Symbol',
            href: hrefOf(simulationId, `trade/${encodeURIComponent(typed)}`),
          },
        ]
      : []),
  ];
}

/** Instruments of each simulation, read once: their names do not change. */
const known = new WeakMap<Broker, Promise<readonly Instrument[]>>();

function instrumentsOf(broker: Broker): Promise<readonly Instrument[]> {
  const before = known.get(broker);
  if (before !== undefined) return before;
  const reading = readAll(broker);
  known.set(broker, reading);
  reading.catch(() => known.delete(broker));
  return reading;
}

/** Names of instruments by symbol. */
export async function namesOf(broker: Broker): Promise<ReadonlyMap<string, string>> {
  const instruments = await instrumentsOf(broker);
  return new Map(
    instruments.flatMap(({ symbol, name }) =>
      name === undefined || name === symbol ? [] : [[symbol, name]],
    ),
  );
}

async function readAll(broker: Broker): Promise<readonly Instrument[]> {
  const all: Instrument[] = [];
  for await (const instrument of broker.list('listInstruments', {})) all.push(instrument);
  return all;
}

/** The latest orders whose ids begin with a text of six or more hexadecimal digits. */
async function ordersBeginning(broker: Broker, text: string): Promise<readonly Order[]> {
  if (!/^[0-9a-f]{6}[0-9a-f-]*$/.test(text)) return [];
  const { data } = await broker.call('listOrders', { query: { limit: 500 } });
  return data.filter(({ orderId }) => orderId.startsWith(text)).slice(0, MOST);
}

const hitOf = ({ simulationId }: Broker, { orderId, symbol }: Order): Hit => ({
  id: `order ${orderId}`,
  title: `Order ${orderId.slice(0, 8)} in ${symbol}`,
  kind: 'Order',
  href: hrefOf(simulationId, 'orders', { order: orderId }),
});

async function byId(broker: Broker, id: string): Promise<readonly Hit[]> {
  const { simulationId } = broker;
  const [portfolio, order] = await Promise.all([
    broker.call('getPortfolio', { params: { portfolioId: id } }).catch(absent),
    broker.call('getOrder', { params: { orderId: id } }).catch(absent),
  ]);
  return [
    ...(portfolio === undefined
      ? []
      : [
          {
            id: `portfolio ${id}`,
            title: portfolio.name ?? id.slice(0, 8),
            kind: 'Portfolio',
            href: hrefOf(simulationId, `portfolio/${id}`),
          },
        ]),
    ...(order === undefined ? [] : [hitOf(broker, order)]),
  ];
}

function absent(error: unknown): undefined {
  if (!(error instanceof AnswerError) || (error.status !== 404 && error.status !== 400)) throw error;
}
