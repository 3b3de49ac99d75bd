import type { BookExecution, BookOrder, BookPortfolio, Books } from './books.js';
import type { Client, Listed } from './client.js';

/** Every list from end to end, or the newest of each and how many there are. */
export type Depth = 'all' | 'newest';

/**
 * Compares what the API shows a tenant with the books that were read from the journal: cash, positions, ledger, activities, orders and
 * their executions, of the portfolios of the tenant or of those named, and in the former case of its accounts too.
 */
export async function compareBooks(
  books: Books,
  client: Client,
  depth: Depth,
  only?: readonly string[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const portfolio of books.portfolios.values()) {
    if (portfolio.isClosed) continue;
    if (only?.includes(portfolio.portfolioId) === false) continue;
    problems.push(...(await comparePortfolio(portfolio, client, depth)));
    if (problems.length > ENOUGH) return problems;
  }
  if (only !== undefined) return problems;
  for (const [accountId, name] of books.accounts) {
    const shown = (await client.ask('GET', `/v1/accounts/${accountId}`)).body as { readonly name?: string };
    if (shown.name !== name)
      problems.push(`account ${accountId} is named ${String(shown.name)}, the journal has ${String(name)}`);
  }
  return problems;
}

const NEWEST = 25;
/** Problems after which more say nothing new. */
const ENOUGH = 5;

interface ShownEntry {
  readonly entryId: string;
  readonly type: string;
  readonly postings: readonly { readonly account: string; readonly amount: number }[];
}

interface ShownExecution {
  readonly executionId: string;
  readonly quantity: number;
  readonly price: number;
  readonly commission: number;
  readonly fees: readonly { readonly name: string; readonly amount: number }[];
}

interface ShownOrder {
  readonly orderId: string;
  readonly status: string;
  readonly filledQuantity?: number;
}

async function comparePortfolio(
  portfolio: BookPortfolio,
  client: Client,
  depth: Depth,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const { portfolioId } = portfolio;
  const path = `/v1/accounts/portfolios/${portfolioId}`;
  const say = (what: string): void => void problems.push(`portfolio ${portfolioId}: ${what}`);
  const paging = depth === 'newest' ? { firstPage: NEWEST } : {};

  const shown = (await client.get(path)) as Readonly<Record<string, number>>;
  const { settledCash = 0, pendingCash = 0, reservedCash = 0, marginLoan = 0 } = shown;
  const cash = Math.round((settledCash + pendingCash + reservedCash - marginLoan) * 1e4);
  if (BigInt(cash) !== portfolio.cash) say(`cash is ${cash}, the journal has ${portfolio.cash.toString()}`);

  const equities = (await client.get(`${path}/equities`)) as readonly {
    readonly symbol: string;
    readonly settledQuantity: number;
    readonly pendingQuantity: number;
  }[];
  const held = new Map(
    equities.map((one) => [one.symbol, Math.round((one.settledQuantity + one.pendingQuantity) * 1e6)]),
  );
  for (const symbol of new Set([...held.keys(), ...portfolio.held.keys()])) {
    const [is, should] = [held.get(symbol) ?? 0, portfolio.held.get(symbol) ?? 0];
    if (is !== should) say(`holds ${is} of ${symbol}, the journal has ${should}`);
  }

  const ledger = await client.list<ShownEntry>(`${path}/ledger`, paging);
  compareLists(
    say,
    'ledger',
    { ...ledger, items: ledger.items.map(entryText) },
    portfolio.ledger.map(({ entryId, type, postings }) => `${entryId} ${type} ${postings.join(' ')}`),
  );

  const activities = await client.list<{ readonly activityId: string; readonly category: string }>(
    `${path}/activities`,
    paging,
  );
  compareLists(
    say,
    'activities',
    { ...activities, items: activities.items.map((one) => `${one.activityId} ${one.category}`) },
    portfolio.activities,
  );

  const orders = await client.list<ShownOrder>(`/v1/orders/portfolio/${portfolioId}`, paging);
  compareLists(
    say,
    'orders',
    { ...orders, items: orders.items.map(({ orderId }) => orderId) },
    portfolio.orders.map(({ orderId }) => orderId),
  );
  const byId = new Map(portfolio.orders.map((order) => [order.orderId, order]));
  for (const order of orders.items) {
    const expected = byId.get(order.orderId);
    if (expected === undefined) continue;
    compareOrder(say, order, expected);
    if (expected.executions.length > 0 || depth === 'newest') await compareExecutions(say, client, expected);
  }
  return problems;
}

function entryText({ entryId, type, postings }: ShownEntry): string {
  const texts = postings.map(({ account, amount }) => `${account} ${Math.round(amount * 1e4)}`).sort();
  return `${entryId} ${type} ${texts.join(' ')}`;
}

/** `shown` is newest first, and may be the newest only; `expected` is oldest first, and all. */
function compareLists(
  say: (what: string) => void,
  name: string,
  shown: Listed<string>,
  expected: readonly string[],
): void {
  if (shown.total !== expected.length)
    say(`${name}: ${shown.total} in all, the journal has ${expected.length}`);
  for (const [index, is] of shown.items.entries()) {
    const should = expected[expected.length - 1 - index];
    if (is === should) continue;
    say(`${name}: number ${index} from the end is "${is}", the journal has "${String(should)}"`);
    return;
  }
}

function compareOrder(say: (what: string) => void, shown: ShownOrder, order: BookOrder): void {
  const filled = Math.round((shown.filledQuantity ?? 0) * 1e6);
  if (filled !== order.filled)
    say(`order ${order.orderId}: ${filled} filled, the journal has ${order.filled}`);
  const isOver = ['FILLED', 'CANCELED', 'REJECTED', 'ERROR'].includes(shown.status);
  if (order.ended === undefined ? isOver : shown.status !== order.ended)
    say(`order ${order.orderId}: is ${shown.status}, in the journal ${order.ended ?? 'open'}`);
}

async function compareExecutions(
  say: (what: string) => void,
  client: Client,
  { orderId, executions }: BookOrder,
): Promise<void> {
  const shown = await client.list<ShownExecution>(`/v1/orders/${orderId}/executions`);
  const texts = shown.items.map((one) =>
    executionText({
      ...one,
      quantity: Math.round(one.quantity * 1e6),
      price: Math.round(one.price * 1e8),
      commission: Math.round(one.commission * 1e4),
      fees: one.fees.map(({ name, amount }) => ({ name, amount: Math.round(amount * 1e4) })),
    }),
  );
  compareLists(
    say,
    `executions of order ${orderId}`,
    { ...shown, items: texts },
    executions.map(executionText),
  );
}

const executionText = ({ executionId, quantity, price, commission, fees }: BookExecution): string =>
  `${executionId} ${quantity} at ${price}, commission ${commission}, fees ${fees.map(({ name, amount }) => `${name} ${amount}`).join(' ')}`;
