/** The ticket: Buy or Sell, how much, at what price, with which exits; and what placing it would do. */
import {
  type CreateOrderBody,
  type Instrument,
  type PortfolioDetail,
  type PortfolioUpdate,
  type PositionIntent,
  orderTypes,
  timesInForce,
} from '@sandpit/protocol';
import { CodedError } from '@sandpit/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { dateText, money, price, quantity, words } from '../format.ts';
import { errorFrom } from '../load.ts';
import { contractText, legsOf, optionNamed } from '../option-legs.ts';
import { Copy } from '../parts/copy.tsx';
import { Field, Select, Tabs } from '../parts/field.tsx';
import { Figure } from '../parts/figure.tsx';
import { Refusal } from '../parts/notice.tsx';
import { PortfolioChoice } from '../parts/portfolio-choice.tsx';
import { hrefOf, routeOf, setQuery } from '../route.ts';
import { asksBeforePlacing, keepAsking } from './asking.ts';
import { Exits } from './exits.tsx';
import { distanceWarning, type MarketSide } from './market-side.ts';
import { asCurl, asPython, asTypeScript } from './order-code.ts';
import { Preview, type PreviewState } from './preview.tsx';
import { affordable } from './remedy.ts';
import { headingOf } from '../strategy.ts';
import { SymbolField } from './symbol-field.tsx';
import {
  intentOfTicket,
  kindOfTicket,
  multiplierOf,
  PRICES,
  problemsOf,
  takesAmount,
  typeOfTicket,
} from './ticket-body.ts';
import { amountOfNet, limitOfNet, type NetSide, netText, sideOfNet } from './net-price.ts';
import { onTicketFocus } from './ticket-focus.ts';
import { keyOfTicket, rearmTicket, ticketState } from './ticket-state.ts';
import { Undo } from './undo.tsx';

export interface TicketProps {
  readonly query: URLSearchParams;
  readonly symbol: string;
  readonly portfolios: readonly PortfolioDetail[];
  readonly portfolioId: string;
  readonly portfolio: PortfolioUpdate | undefined;
  /** The instrument of the ticket, if it is listed. */
  readonly instrument: Instrument | undefined;
  readonly market: MarketSide;
  readonly order: CreateOrderBody;
  readonly missing: string | undefined;
  readonly preview: PreviewState;
  /** False for an order that is known to have ended. */
  readonly isOpen: (orderId: string) => boolean;
}

/** Shares or contracts held; negative = short. */
export function heldIn(portfolio: PortfolioUpdate | undefined, symbol: string): number {
  const share = portfolio?.equities.find((one) => one.symbol === symbol);
  if (share !== undefined) return share.settledQuantity + share.pendingQuantity;
  const option = portfolio?.options.find(({ optionSymbol }) => optionSymbol === symbol);
  const future = portfolio?.futures.find((one) => one.symbol === symbol);
  return option?.quantity ?? future?.quantity ?? 0;
}

/** Buy closes a short position, and opens otherwise; Sell closes a long one. */
const intentFor = (side: 'BUY' | 'SELL', held: number): PositionIntent =>
  side === 'BUY' ? (held < 0 ? 'BUY_TO_CLOSE' : 'BUY_TO_OPEN') : held > 0 ? 'SELL_TO_CLOSE' : 'SELL_TO_OPEN';

export function Ticket(props: TicketProps) {
  const { query, symbol, portfolios, portfolioId, portfolio, market, order, missing, preview, instrument } =
    props;
  const broker = useBroker();
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<Error>();
  const [placed, setPlaced] = useState<{ readonly orderId: string; readonly text: string }>();
  const placedLine = useRef<HTMLParagraphElement>(null);
  const [, redraw] = useState({});
  const [isAsking, setIsAsking] = useState(asksBeforePlacing);
  /** The order that a first click has confirmed, as text: a changed order asks again. */
  const [confirmed, setConfirmed] = useState<string>();
  const ticket = ticketState(keyOfTicket(portfolioId, symbol, query));
  const text = (name: string): string => query.get(name) ?? '';
  const kind = kindOfTicket(query, symbol);
  const type = typeOfTicket(query);
  const intent = intentOfTicket(query);
  const held = heldIn(portfolio, symbol);
  const problems = problemsOf(query);
  const isBuy = kind === 'SPREAD' ? (order.limitPrice ?? 0) >= 0 : intent.startsWith('BUY');
  const sentence = sentenceOfOrder(order);
  const orderKey = JSON.stringify(order);
  const isConfirming = isAsking && confirmed === orderKey && !ticket.isSent;
  const field = (name: string) => ({
    value: text(name),
    problem: problems.get(name),
    onChange: (value: string) => setQuery({ [name]: value }),
  });
  useEffect(
    () =>
      onTicketFocus((typed) => {
        const input = form.current?.querySelector<HTMLInputElement>('input[name=symbol]');
        input?.focus();
        input?.select();
        if (input === null || input === undefined || typed === '') return;
        input.value = typed;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }),
    [],
  );
  // A changed ticket clears the messages about the previous one.
  useEffect(() => setError(undefined), [orderKey]);

  // The keyboard leaves the button, so that a later Enter sends nothing. A field that is typed in keeps it.
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === form.current?.querySelector('.place'))
      placedLine.current?.focus();
  }, [placed]);

  const submit = (event: Event): void => {
    event.preventDefault();
    if (missing !== undefined || ticket.isSent) return;
    if (isAsking && confirmed !== orderKey) {
      setConfirmed(orderKey);
      return;
    }
    setConfirmed(undefined);
    ticket.isSent = true;
    redraw({});
    setError(undefined);
    const show = (orderId: string): void => setPlaced({ orderId, text: sentence });
    broker.call('createOrder', { body: { ...order, clientOrderId: ticket.clientOrderId } }).then(
      ({ orderId }) => show(orderId),
      (reason: unknown) => {
        // An order whose answer was lost is placed.
        if (reason instanceof CodedError && reason.code === 'DUPLICATE_CLIENT_ORDER_ID')
          show(String(reason.figures.orderId));
        else {
          ticket.isSent = false;
          setError(errorFrom(reason));
        }
      },
    );
  };
  /** Enter moves to the button, which states its effect: a number field does not submit. */
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target } = event;
    // Escape leaves the ticket: the next letters are shortcuts, and the next Enter is not for its button.
    if (event.key === 'Escape') document.getElementById('content')?.focus({ preventScroll: true });
    if (event.key !== 'Enter' || !(target instanceof HTMLInputElement) || target.type === 'checkbox') return;
    event.preventDefault();
    const next = target.name === 'symbol' ? '[name=quantity]' : 'button[type=submit]';
    if (target.name === 'symbol') target.dispatchEvent(new Event('change', { bubbles: true }));
    form.current?.querySelector<HTMLElement>(next)?.focus();
  };
  return (
    <div class="ticket">
      <form ref={form} onSubmit={submit} onKeyDown={onKeyDown} aria-label="Order">
        <PortfolioChoice portfolios={portfolios} value={portfolioId} />
        <NextOrder query={query} />
        {kind === 'SPREAD' ? (
          <Legs query={query} />
        ) : (
          <>
            <SymbolField value={symbol} />
            {kind === 'OPTION' && <p class="dim small">{contractText(symbol)}</p>}
            {instrument?.assetClass === 'FUTURE' && (
              <FutureTerms
                future={instrument}
                price={order.limitPrice ?? (isBuy ? market.ask : market.bid)}
                count={order.quantity ?? 1}
              />
            )}
            <div class="sides" role="group" aria-label="Side">
              {(['BUY', 'SELL'] as const).map((side) => (
                <button
                  key={side}
                  type="button"
                  class={side === 'BUY' ? 'buy-side' : 'sell-side'}
                  aria-pressed={intent.startsWith(side)}
                  onClick={() => setQuery({ side: undefined, intent: intentFor(side, held) })}
                >
                  {side === 'BUY' ? 'Buy' : 'Sell'}
                </button>
              ))}
            </div>
            <div class="pair effect">
              <Select
                name="Effect"
                value={intent.endsWith('OPEN') ? 'OPEN' : 'CLOSE'}
                options={[
                  ['OPEN', isBuy ? 'Open or add' : 'Open short'],
                  ['CLOSE', isBuy ? 'Cover short' : 'Close or reduce'],
                ]}
                plain
                onChange={(effect) =>
                  setQuery({ side: undefined, intent: `${isBuy ? 'BUY' : 'SELL'}_TO_${effect}` })
                }
              />
              <p class="held">
                <span class="dim small">Held</span>
                <strong>{quantity(held)}</strong>
              </p>
            </div>
          </>
        )}
        <Amount {...props} held={held} isBuy={isBuy} />
        <div class="pair">
          <Select
            name="Type"
            value={type}
            options={kind === 'SPREAD' ? ['MARKET', 'LIMIT'] : orderTypes}
            onChange={(value) => setQuery({ type: value })}
          />
          <Select
            name="Time in force"
            plain
            value={order.timeInForce}
            options={timesInForce}
            onChange={(value) => setQuery({ tif: value })}
          />
        </div>
        {order.timeInForce === 'GTD' && <Field name="Good till" type="date" {...field('till')} />}
        {PRICES[type].includes('stop') && <Field name="Stop price" inputMode="decimal" {...field('stop')} />}
        {PRICES[type].includes('limit') &&
          (kind === 'SPREAD' ? (
            <NetPrice query={query} problem={problems.get('limit')} />
          ) : (
            <Field name="Limit price" inputMode="decimal" {...field('limit')} />
          ))}
        {PRICES[type].includes('trail') && (
          <Field name="Trail, dollars or %" placeholder="1.50 or 2%" {...field('trail')} />
        )}
        <PriceChips market={market} isNet={kind === 'SPREAD'} />
        <Warning order={order} isBuy={isBuy} market={market} />
        {kind === 'EQUITY' && type === 'LIMIT' && (
          <label class="inline">
            <input
              type="checkbox"
              checked={text('extended') !== ''}
              onChange={({ currentTarget }) =>
                setQuery({ extended: currentTarget.checked ? '1' : undefined })
              }
            />
            Extended hours
          </label>
        )}
        <Exits
          query={query}
          kind={kind}
          type={type}
          intent={intent}
          entry={{
            price: order.limitPrice ?? (isBuy ? market.ask : market.bid) ?? Number.NaN,
            quantity: order.quantity ?? Number.NaN,
            multiplier: instrument?.multiplier ?? multiplierOf(kind),
            isBuy,
          }}
          problems={problems}
        />
        <button
          type="submit"
          class={`primary place ${isBuy ? 'buy-side' : 'sell-side'}`}
          aria-disabled={missing !== undefined || ticket.isSent}
          aria-label={
            missing === undefined && !ticket.isSent
              ? `${isConfirming ? 'Confirm' : 'Place order'}: ${sentence}`
              : undefined
          }
        >
          {missing ??
            (ticket.isSent
              ? 'Order sent. Change the ticket for another.'
              : isConfirming
                ? `Confirm: ${sentence}`
                : sentence)}
        </button>
        <label class="inline small">
          <input
            type="checkbox"
            checked={isAsking}
            onChange={({ currentTarget }) => {
              keepAsking(currentTarget.checked);
              setIsAsking(currentTarget.checked);
            }}
          />
          Ask before placing
        </label>
        {error !== undefined && <Refusal error={error} />}
      </form>
      {placed !== undefined && (
        <p role="status" class="small" ref={placedLine} tabIndex={-1}>
          Placed: {placed.text}.{' '}
          <a href={hrefOf(broker.simulationId, 'orders', { portfolio: portfolioId, order: placed.orderId })}>
            Show the order
          </a>
        </p>
      )}
      {placed !== undefined && (
        <Undo key={placed.orderId} orderId={placed.orderId} isOpen={props.isOpen(placed.orderId)} />
      )}
      {missing === undefined && ticket.isSent && (
        <p>
          <button
            type="button"
            class="quiet small"
            onClick={() => {
              rearmTicket();
              redraw({});
            }}
          >
            Repeat order
          </button>
        </p>
      )}
      {!ticket.isSent && <Preview state={preview} missing={missing} />}
      {missing === undefined && (
        <p class="row small" aria-label="The same order as code" role="group">
          <Copy name="curl" text={asCurl(order)} />
          <Copy name="TypeScript" text={asTypeScript(order)} />
          <Copy name="Python" text={asPython(order)} />
        </p>
      )}
    </div>
  );
}

/** `Buy 10 AAPL, limit 187.50`, `2 × AAPL Bull call spread 185/190 Dec 4, 2.05 debit`. */
function sentenceOfOrder(order: CreateOrderBody): string {
  const { legs, limitPrice, stopPrice, orderType, positionIntent } = order;
  const count = order.notional === undefined ? quantity(order.quantity) : money(order.notional);
  const at = [
    orderType === 'MARKET' ? 'market' : undefined,
    stopPrice === undefined ? undefined : `stop ${price(stopPrice)}`,
    limitPrice === undefined
      ? undefined
      : legs === undefined
        ? `limit ${price(limitPrice)}`
        : netText(limitPrice),
    orderType.startsWith('TRAILING') ? words(orderType).toLowerCase() : undefined,
  ].filter((part) => part !== undefined);
  const what = legs === undefined ? contractText(order.symbol) : `× ${order.symbol} ${headingOf(legs)}`;
  const verb =
    legs !== undefined
      ? ''
      : positionIntent === 'SELL_TO_OPEN'
        ? 'Sell short'
        : positionIntent.startsWith('BUY')
          ? 'Buy'
          : 'Sell';
  return `${verb} ${count} ${what}, ${at.join(', ')}`.trim();
}

/** Terms of a futures contract, and the notional value of the order. */
function FutureTerms({
  future: { multiplier, tickSize, lastTradeDate },
  price: at,
  count,
}: {
  readonly future: Instrument;
  readonly price: number | undefined;
  readonly count: number;
}) {
  return (
    <dl class="figures" aria-label="Contract">
      <Figure name="Multiplier">{multiplier === undefined ? '–' : `${money(multiplier)} a point`}</Figure>
      <Figure name="Tick">
        {tickSize === undefined || multiplier === undefined
          ? '–'
          : `${quantity(tickSize)} = ${money(tickSize * multiplier)}`}
      </Figure>
      <Figure name="Notional">
        {at === undefined || multiplier === undefined ? '–' : money(at * multiplier * count)}
      </Figure>
      <Figure name="Last trade">{lastTradeDate === undefined ? '–' : dateText(lastTradeDate)}</Figure>
    </dl>
  );
}

/** The second order of a roll: it opens a strategy that this one closes. */
function NextOrder({ query }: { readonly query: URLSearchParams }) {
  const then = query.get('then') ?? '';
  const [leg] = legsOf(then);
  const expiration = optionNamed(leg?.optionSymbol ?? '')?.expiration;
  if (expiration === undefined) return null;
  return (
    <div class="notice small" role="group" aria-label="Order 1 of 2">
      <p>Order 1 of 2 closes the strategy. When it has filled, order 2 opens it at {dateText(expiration)}.</p>
      <button
        type="button"
        onClick={() =>
          setQuery({ legs: then, then: undefined, strategy: undefined, limit: undefined, expiration })
        }
      >
        Continue with order 2
      </button>
    </div>
  );
}

function Legs({ query }: { readonly query: URLSearchParams }) {
  const legs = legsOf(query.get('legs') ?? '');
  return (
    <div class="notice legs" role="group" aria-label="Legs">
      <p>
        <strong>{headingOf(legs)}</strong>{' '}
        <button
          type="button"
          class="quiet"
          onClick={() =>
            setQuery({ legs: undefined, then: undefined, strategy: undefined, limit: undefined })
          }
        >
          Clear
        </button>
      </p>
      <ul class="plain small">
        {legs.map(({ optionSymbol, positionIntent, quantity: count }) => (
          <li key={optionSymbol} class={positionIntent.startsWith('BUY') ? 'buy' : 'sell'}>
            {words(positionIntent)} {count} × {contractText(optionSymbol)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The net price of a spread: an amount, paid or received. */
function NetPrice({
  query,
  problem,
}: {
  readonly query: URLSearchParams;
  readonly problem: string | undefined;
}) {
  const limit = query.get('limit') ?? '';
  const side = sideOfNet(limit, query.get('net'));
  return (
    <div class="pair">
      <Field
        name="Net price"
        inputMode="decimal"
        value={amountOfNet(limit)}
        problem={problem}
        onChange={(typed) => setQuery(limitOfNet(typed, side))}
      />
      <div class="field net-side">
        <Tabs
          label="Debit or credit"
          value={side}
          options={[
            ['DEBIT', 'Debit'],
            ['CREDIT', 'Credit'],
          ]}
          onChange={(next) => setQuery(limitOfNet(amountOfNet(limit), next as NetSide))}
        />
      </div>
    </div>
  );
}

const FRACTIONS = [0.25, 0.5, 1] as const;

/** Size of the order: a number or dollars, and parts of the buying power or of the position. */
function Amount({
  query,
  symbol,
  portfolio,
  instrument,
  market,
  order,
  held,
  isBuy,
}: TicketProps & { readonly held: number; readonly isBuy: boolean }) {
  const broker = useBroker();
  const kind = kindOfTicket(query, symbol);
  const intent = intentOfTicket(query);
  const problems = problemsOf(query);
  const isByAmount = takesAmount(kind, typeOfTicket(query), intent);
  const isClosing = intent.endsWith('CLOSE') && kind !== 'SPREAD';
  // A future requires its margin, other instruments their price.
  const each =
    kind === 'FUTURE'
      ? (instrument?.initialMargin ?? 0)
      : (order.limitPrice ?? (isBuy ? market.ask : market.bid) ?? 0) * multiplierOf(kind);
  /** A first estimate by the price; then reduced by the preview's remaining buying power. */
  const choose = async (part: number): Promise<void> => {
    if (isClosing) {
      setQuery({ quantity: Math.floor(Math.abs(held) * part), notional: undefined });
      return;
    }
    const typed = query.get('quantity');
    const power = (portfolio?.overnightBuyingPower ?? 0) * part;
    let count = each > 0 ? Math.floor(power / each) : 0;
    for (let tries = 0; tries < 3 && count > 0; tries += 1) {
      const { accepted, rejections } = await broker.call('previewOrder', {
        body: { ...withoutAmount(order), quantity: count },
      });
      const refusal = rejections.find(({ code }) => code === 'INSUFFICIENT_FUNDS');
      if (accepted || refusal === undefined) break;
      const required = Number(refusal.requiredBuyingPower ?? refusal.requiredAmount);
      const available = Number(refusal.availableBuyingPower ?? refusal.availableCash);
      count = Math.min(count - 1, affordable({ ...order, quantity: count }, required, available * part) ?? 0);
    }
    // A quantity that the user typed while the previews were requested is kept.
    if (routeOf(location.hash).query.get('quantity') !== typed) return;
    setQuery({ quantity: Math.max(0, count), notional: undefined });
  };
  return (
    <>
      <div class="pair">
        <Field
          name={kind === 'EQUITY' ? 'Shares' : kind === 'SPREAD' ? 'Spreads' : 'Contracts'}
          inputMode="decimal"
          inputName="quantity"
          value={query.get('quantity') ?? ''}
          problem={problems.get('quantity')}
          onChange={(value) => setQuery({ quantity: value, notional: undefined })}
        />
        {isByAmount && (
          <Field
            name="Or dollars"
            inputMode="decimal"
            value={query.get('notional') ?? ''}
            problem={problems.get('notional')}
            onChange={(value) => setQuery({ notional: value, quantity: undefined })}
          />
        )}
      </div>
      {kind !== 'SPREAD' && (isClosing ? held !== 0 : each > 0) && (
        <div
          class="chips"
          role="group"
          aria-label={isClosing ? 'Part of the position' : 'Part of the buying power'}
        >
          {FRACTIONS.map((part) => (
            <button key={part} type="button" onClick={() => void choose(part).catch(() => undefined)}>
              {part * 100}%
            </button>
          ))}
          <span class="dim small">
            {isClosing ? 'of the position' : `of ${money(portfolio?.overnightBuyingPower)}`}
          </span>
        </div>
      )}
    </>
  );
}

function withoutAmount(order: CreateOrderBody): CreateOrderBody {
  const { notional: _notional, ...rest } = order;
  return rest;
}

/** The bid, the middle and the ask: each makes the order a limit order at it. */
function PriceChips({ market, isNet }: { readonly market: MarketSide; readonly isNet: boolean }) {
  const chips = [
    ['Bid', market.bid],
    ['Mid', market.middle],
    ['Ask', market.ask],
  ] as const;
  return (
    <div class="chips" role="group" aria-label="Limit at">
      {chips.map(([name, value]) => (
        <button
          key={name}
          type="button"
          disabled={value === undefined}
          onClick={() => setQuery({ type: 'LIMIT', limit: value })}
        >
          {name} <strong>{(isNet ? netText : price)(value)}</strong>
        </button>
      ))}
    </div>
  );
}

function Warning({
  order,
  isBuy,
  market,
}: {
  readonly order: CreateOrderBody;
  readonly isBuy: boolean;
  readonly market: MarketSide;
}) {
  const warning =
    order.legs === undefined
      ? distanceWarning(order.orderType, isBuy, order.limitPrice, order.stopPrice, market)
      : undefined;
  return warning === undefined ? null : (
    <p class="warning small" role="status">
      {warning}
    </p>
  );
}
