/** History of an order, step by step, and the actions that are still possible. */
import type { Activity, Execution, LedgerEntry, Order } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { activityText } from '../activity-text.ts';
import { type Broker, useBroker } from '../broker.ts';
import { change, isoDay, money, moment, numberTyped, price, quantity, time, words } from '../format.ts';
import { isOpenOrder } from '../live/orders.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { isValid, NumberField } from '../parts/field.tsx';
import { Problem, Refusal } from '../parts/notice.tsx';
import { hrefOf, setQuery } from '../route.ts';
import { asCurl, asPython, asTypeScript, bodyOf } from '../trade/order-code.ts';
import { orderText, typeOf, whyOf } from '../labels.ts';
import { contractText } from '../option-legs.ts';
import { RefusalText } from '../trade/preview.tsx';
import { PageButton, Rule } from '../why/rule.tsx';
import { ruleOfFill, ruleOfOrder } from '../why/rule-pages.ts';

interface Story {
  readonly order: Order;
  readonly executions: readonly Execution[];
  readonly activities: readonly Activity[];
  readonly entries: readonly LedgerEntry[];
}

const PAGE = 500;

export function OrderStory({
  orderId,
  current,
  exits,
}: {
  readonly orderId: string;
  readonly current: Order | undefined;
  /** For a bracket: the known exits. */
  readonly exits: readonly Order[];
}) {
  const broker = useBroker();
  const story = useLoad(() => read(broker, orderId), [orderId]);
  // Updates of the order from the stream reload its history.
  const version = `${current?.status ?? ''} ${current?.updatedAt ?? ''} ${current?.filledQuantity ?? 0}`;
  useEffect(() => {
    if (story.value !== undefined) story.reload();
  }, [version]);
  const { value, error } = story;
  return (
    <aside class="panel story" aria-label="Order details">
      <div class="heading">
        <h2>{value === undefined ? 'Order' : orderText(value.order, value.order.quantity)}</h2>
        <button type="button" class="quiet" onClick={() => setQuery({ order: undefined })}>
          Close
        </button>
      </div>
      {error !== undefined && <Problem error={error} retry={story.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && (
        <OrderEvents
          story={{ ...value, order: fresher(value.order, current) }}
          exits={exits}
          onChanged={story.reload}
        />
      )}
    </aside>
  );
}

const fresher = (read: Order, live: Order | undefined): Order =>
  live !== undefined && live.updatedAt > read.updatedAt ? live : read;

async function read(broker: Broker, orderId: string): Promise<Story> {
  const params = { orderId };
  const [order, executions] = await Promise.all([
    broker.call('getOrder', { params }),
    broker.call('listExecutions', { params, query: { limit: PAGE } }),
  ]);
  const of = { params: { portfolioId: order.portfolioId }, query: { from: order.createdAt } };
  const isOfIt = (item: { readonly orderId?: string | undefined }): boolean => item.orderId === orderId;
  const [activities, entries] = await Promise.all([
    some(broker.list('listActivities', of), isOfIt),
    some(broker.list('listLedgerEntries', of), isOfIt),
  ]);
  return {
    order,
    executions: executions.data.toReversed(),
    activities: activities.toReversed(),
    entries: entries.toReversed(),
  };
}

/** Number of items searched for those of an order. */
const LOOKED_THROUGH = 5000;

async function some<Item>(list: AsyncGenerator<Item>, isWanted: (item: Item) => boolean): Promise<Item[]> {
  const found: Item[] = [];
  let count = 0;
  for await (const item of list) {
    if (isWanted(item)) found.push(item);
    if ((count += 1) >= LOOKED_THROUGH) break;
  }
  return found;
}

function OrderEvents({
  story,
  exits,
  onChanged,
}: {
  readonly story: Story;
  readonly exits: readonly Order[];
  readonly onChanged: () => void;
}) {
  const { simulationId } = useBroker();
  const { order, executions, activities, entries } = story;
  const why = whyOf(order);
  const rule = ruleOfOrder(order);
  const isParent = order.bracketConfig !== undefined || order.ocoConfig !== undefined;
  // Times of an order of several days have their dates.
  const stamp = isoDay(order.createdAt) === isoDay(order.updatedAt) ? time : moment;
  return (
    <>
      <p>
        {words(order.positionIntent)} · {typeOf(order)} ·{' '}
        <span class={`status ${order.status.toLowerCase()}`}>{words(order.status)}</span>
      </p>
      {order.rejection !== undefined ? (
        <p class="why">
          <RefusalText rejection={order.rejection} order={order} />
        </p>
      ) : (
        why !== '' && (
          <p class="why">
            {isOpenOrder(order) ? 'Waiting for: ' : ''}
            {why} {rule !== undefined && <PageButton page={rule}>Why</PageButton>}
          </p>
        )
      )}
      {order.notes !== undefined && <p class="notes">{order.notes}</p>}
      {order.parentOrderId !== undefined && (
        <p>
          Exit order of{' '}
          <button type="button" class="link" onClick={() => setQuery({ order: order.parentOrderId })}>
            the entry order
          </button>
          .
        </p>
      )}
      {isParent && <Bracket order={order} exits={exits} />}
      <h3>
        Status history <Rule name="orderStatus" />
      </h3>
      <ol class="states">
        {activities.map((activity) => (
          <li key={activity.activityId}>
            <time dateTime={activity.at}>{stamp(activity.at)}</time> <strong>{words(activity.type)}</strong>{' '}
            {activityText(activity)}
          </li>
        ))}
      </ol>
      <h3>Executions</h3>
      {executions.length === 0 ? (
        <p class="dim">None.</p>
      ) : (
        <ol class="states">
          {executions.map((execution) => (
            <li key={execution.executionId}>
              <Filled execution={execution} isLeg={execution.symbol !== order.symbol} stamp={stamp} />
            </li>
          ))}
        </ol>
      )}
      <h3>
        Ledger <Rule name="cash" />
      </h3>
      {entries.length === 0 ? (
        <p class="dim">No ledger entries.</p>
      ) : (
        <ol class="states">
          {entries.map((entry) => (
            <li key={entry.entryId}>
              <time dateTime={entry.at}>{stamp(entry.at)}</time>{' '}
              {activityText({ category: 'CASH', description: entry.description })}
              <ul class="plain postings">
                {entry.postings.map(({ account, amount }, index) => (
                  <li key={index}>
                    <span>{words(account)}</span> <span class="amount">{change(amount)}</span>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
      <Actions order={order} onChanged={onChanged} />
      <h3>Repeat order</h3>
      <p class="row">
        <a href={hrefOf(simulationId, 'trade', { again: order.orderId })}>New ticket</a>
        <Copy name="curl" text={asCurl(bodyOf(order))} />
        <Copy name="TypeScript" text={asTypeScript(bodyOf(order))} />
        <Copy name="Python" text={asPython(bodyOf(order))} />
      </p>
      <p class="dim small">
        {order.orderId} · created {moment(order.createdAt)}
      </p>
    </>
  );
}

function Bracket({
  order: { bracketConfig, ocoConfig },
  exits,
}: {
  readonly order: Order;
  readonly exits: readonly Order[];
}) {
  const profitTarget = bracketConfig?.profitTarget;
  const stopLoss = (bracketConfig ?? ocoConfig)?.stopLoss;
  return (
    <p>
      <Rule name="brackets" /> {ocoConfig === undefined ? 'Exits:' : 'Other order:'}{' '}
      {[
        profitTarget === undefined ? undefined : `target ${price(profitTarget.limitPrice)}`,
        stopLoss === undefined ? undefined : `stop ${price(stopLoss.stopPrice)}`,
      ]
        .filter((part) => part !== undefined)
        .join(', ')}
      {exits.map(({ orderId, orderType, status }) => (
        <span key={orderId}>
          {' · '}
          <button type="button" class="link" onClick={() => setQuery({ order: orderId })}>
            {words(orderType)}
          </button>{' '}
          {status.toLowerCase()}
        </span>
      ))}
    </p>
  );
}

/** Descriptions of the fill models' rules. */
const RULES: Readonly<Record<string, string>> = {
  TOUCH: 'Filled at the quote: buys at the ask, sells at the bid',
  RESTING_LIMIT: 'Rested until the market reached its limit',
  OPENING_AUCTION: 'Filled in the opening auction at its single price',
  CLOSING_AUCTION: 'Filled in the closing auction at its single price',
  MODELLED_BOOK: 'Filled through the levels of a modeled book',
  RULE_201:
    'Offered above the bid under the short sale restriction (Rule 201) until the bid reached the offer',
  SCRIPTED: 'Filled by a scripted outcome',
};

function Filled({
  execution,
  isLeg,
  stamp,
}: {
  readonly execution: Execution;
  readonly isLeg: boolean;
  readonly stamp: (at: string) => string;
}) {
  const { quote, explanation, fees, commission } = execution;
  const charges = fees.reduce((sum, fee) => sum + fee.amount, commission);
  return (
    <>
      <time dateTime={execution.executedAt}>{stamp(execution.executedAt)}</time>{' '}
      <strong>
        {quantity(execution.quantity)} at {price(execution.price)}
      </strong>{' '}
      {isLeg && `${contractText(execution.symbol)}, `}
      {isLeg ? execution.liquidity.toLowerCase() : words(execution.liquidity)}
      <br />
      <span class="dim">
        Quote {price(quote.bid)} × {price(quote.ask)}
        {quote.bidSize !== undefined && ` (${quantity(quote.bidSize)} × ${quantity(quote.askSize)})`} at{' '}
        {time(quote.timestamp)}. {RULES[explanation.rule] ?? words(explanation.rule)}
        {explanation.fillModel !== undefined && ` (${explanation.fillModel} model)`}
        {explanation.note !== undefined && `. ${explanation.note}`}
        {explanation.latencyMs !== undefined &&
          explanation.latencyMs > 0 &&
          `, after ${explanation.latencyMs} ms`}
        {charges !== 0 && `. Charges ${money(charges)}`} <Rule name={ruleOfFill(execution)} />
        {charges !== 0 && <Rule name="fees" />}
      </span>
    </>
  );
}

/** Cancel and replace, if the order's status and the token allow them. */
function Actions({ order, onChanged }: { readonly order: Order; readonly onChanged: () => void }) {
  const broker = useBroker();
  const [error, setError] = useState<Error>();
  const [limit, setLimit] = useState(order.limitPrice === undefined ? '' : String(order.limitPrice));
  const [stop, setStop] = useState(order.stopPrice === undefined ? '' : String(order.stopPrice));
  const [size, setSize] = useState(String(order.quantity));
  if (!isOpenOrder(order)) return null;
  if (!broker.may('trade')) return <p class="dim">Read-only token: it cannot cancel or change orders.</p>;
  const params = { orderId: order.orderId };
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(onChanged, (reason: unknown) => setError(errorFrom(reason)));
  };
  const replace = (event: Event): void => {
    event.preventDefault();
    if (!isValid(event)) return;
    const [limitPrice, stopPrice, count] = [limit, stop, size].map(numberTyped);
    after(
      broker.call('updateOrder', {
        params,
        body: {
          ...(limitPrice !== undefined && limitPrice !== order.limitPrice && { limitPrice }),
          ...(stopPrice !== undefined && stopPrice !== order.stopPrice && { stopPrice }),
          ...(count !== undefined && count !== order.quantity && { quantity: count }),
        },
      }),
    );
  };
  return (
    <>
      <h3>Change</h3>
      <form class="grid" onSubmit={replace} aria-label="Change order">
        <NumberField name="Quantity" value={size} onChange={setSize} />
        {order.limitPrice !== undefined && <NumberField name="Limit" value={limit} onChange={setLimit} />}
        {order.stopPrice !== undefined && <NumberField name="Stop" value={stop} onChange={setStop} />}
        <div class="row whole">
          <button type="submit">Replace</button>
          <button type="button" class="danger" onClick={() => after(broker.call('cancelOrder', { params }))}>
            Cancel order
          </button>
        </div>
      </form>
      {error !== undefined && <Refusal error={error} />}
    </>
  );
}
