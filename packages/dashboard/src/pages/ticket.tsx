/** A ticket, and beside it what placing it would do. */
import {
  type CreateOrderBody,
  type Order,
  type OrderPreview,
  orderTypes,
  type PortfolioDetail,
  positionIntents,
  timesInForce,
} from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, moment, money, price, quantity } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Field, Select, Tabs } from '../parts/field.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { go, hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { asCurl, asPython, asTypeScript } from './order-code.ts';
import { KINDS, orderOf, PRICES, takesAmount, takesStop, ticketOf, typeOfTicket } from './ticket-body.ts';
import { optionNamed } from '../option-legs.ts';
import { PortfolioChoice, portfoliosOf } from '../parts/portfolio-choice.tsx';
import { QuoteStrip } from '../parts/quote-strip.tsx';
import { SymbolField } from '../parts/symbol-field.tsx';
import { OptionChoice, SpreadLegs } from './ticket-options.tsx';

/** So long nothing was typed: then the preview is asked for. */
const QUIET_MS = 300;

export function Ticket({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { query } = place;
  const asked = query.get('portfolio');
  const portfolios = useLoad(() => portfoliosOf(broker, asked ?? undefined), [asked]);
  const problem = useAgain(query.get('again'));
  if (!broker.may('trade')) return <Empty>Read-only token: it cannot place orders.</Empty>;
  const failure = problem ?? (portfolios.value === undefined ? portfolios.error : undefined);
  if (failure !== undefined)
    return (
      <>
        <Problem error={failure} retry={problem === undefined ? portfolios.reload : undefined} />
        <p>
          <a href={hrefOf(broker.simulationId, 'ticket')}>Clear ticket</a>
        </p>
      </>
    );
  if (portfolios.value === undefined) return <p class="waiting">Loading …</p>;
  const [first] = portfolios.value;
  if (first === undefined)
    return (
      <Empty>
        No portfolio to trade in. <a href={hrefOf(broker.simulationId, '')}>Open a portfolio first.</a>
      </Empty>
    );
  return <Form query={query} portfolios={portfolios.value} portfolioId={asked ?? first.portfolioId} />;
}

/** Fills the ticket with an order that there was. Returns why it could not. */
function useAgain(orderId: string | null): Error | undefined {
  const broker = useBroker();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (orderId === null) return;
    const fill = (order: Order): void => setQuery({ again: undefined, ...ticketOf(order) });
    broker
      .call('getOrder', { params: { orderId } })
      .then(fill, (reason: unknown) => setError(errorFrom(reason)));
  }, [orderId]);
  return error;
}

function Form({
  query,
  portfolios,
  portfolioId,
}: {
  readonly query: URLSearchParams;
  readonly portfolios: readonly PortfolioDetail[];
  readonly portfolioId: string;
}) {
  const broker = useBroker();
  const [error, setError] = useState<Error>();
  const [isSending, setIsSending] = useState(false);
  const text = (name: string): string => query.get(name) ?? '';
  const field = (name: string) => ({
    value: text(name),
    onChange: (value: string) => setQuery({ [name]: value }),
  });
  const kind = text('kind') === '' ? 'EQUITY' : text('kind');
  const type = typeOfTicket(query);
  const prices = PRICES[type];
  const order = orderOf(query, portfolioId);
  const isComplete =
    order.symbol !== '' &&
    (kind !== 'SPREAD' || (order.legs?.length ?? 0) > 1) &&
    (kind !== 'OPTION' || optionNamed(order.symbol) !== undefined);
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    setIsSending(true);
    broker.call('createOrder', { body: order }).then(
      ({ orderId }) => go(hrefOf(broker.simulationId, 'orders', { portfolio: portfolioId, order: orderId })),
      (reason: unknown) => {
        setError(errorFrom(reason));
        setIsSending(false);
      },
    );
  };
  return (
    <>
      <h1>Ticket</h1>
      <Tabs
        label="Asset class"
        value={kind}
        options={KINDS}
        onChange={(value) => setQuery({ kind: value, symbol: undefined, legs: undefined })}
      />
      <div class="beside">
        <form class="panel" onSubmit={submit} aria-label="Order">
          <div class="grid">
            <PortfolioChoice portfolios={portfolios} value={portfolioId} />
            {kind === 'OPTION' || kind === 'SPREAD' ? null : (
              <SymbolField kind={kind} value={text('symbol')} />
            )}
            {kind !== 'SPREAD' && (
              <Select
                name="Intent"
                value={order.positionIntent}
                options={positionIntents}
                onChange={field('intent').onChange}
              />
            )}
            <Field
              name={kind === 'EQUITY' ? 'Shares' : kind === 'SPREAD' ? 'Units' : 'Contracts'}
              inputMode="decimal"
              value={text('quantity') === '' && order.notional === undefined ? '1' : text('quantity')}
              onChange={(value) => setQuery({ quantity: value, notional: undefined })}
            />
            {takesAmount(kind, type) && (
              <Field
                name="Or amount in dollars"
                inputMode="decimal"
                value={text('notional')}
                onChange={(value) => setQuery({ notional: value, quantity: undefined })}
              />
            )}
            <Select
              name="Type"
              value={type}
              options={kind === 'SPREAD' ? ['MARKET', 'LIMIT'] : orderTypes}
              onChange={field('type').onChange}
            />
            {prices.includes('stop') && <Field name="Stop price" inputMode="decimal" {...field('stop')} />}
            {prices.includes('limit') && (
              <Field
                name={kind === 'SPREAD' ? 'Net limit (negative for a credit)' : 'Limit price'}
                inputMode={kind === 'SPREAD' ? 'text' : 'decimal'}
                {...field('limit')}
              />
            )}
            {prices.includes('trail') && (
              <Field name="Trail, dollars or %" placeholder="1.50 or 2%" {...field('trail')} />
            )}
            <Select
              name="Time in force"
              plain
              value={order.timeInForce}
              options={timesInForce}
              onChange={field('tif').onChange}
            />
            {order.timeInForce === 'GTD' && <Field name="Till" placeholder="2026-12-18" {...field('till')} />}
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
          </div>
          {kind === 'OPTION' && <OptionChoice query={query} />}
          {kind === 'SPREAD' && <SpreadLegs query={query} cost={order.limitPrice} />}
          {kind !== 'SPREAD' && order.positionIntent.endsWith('OPEN') && (
            <fieldset class="grid">
              <legend>Exits after the fill (optional)</legend>
              <Field name="Take profit at" inputMode="decimal" {...field('target')} />
              <Field name="Stop loss at" inputMode="decimal" {...field('guard')} />
            </fieldset>
          )}
          {takesStop(kind, type, order.positionIntent) && (
            <fieldset class="grid">
              <legend>Stop (optional): the fill of one order cancels the other</legend>
              <Field name="Stop loss at" inputMode="decimal" {...field('guard')} />
            </fieldset>
          )}
          {kind !== 'SPREAD' && <QuoteStrip symbol={order.symbol} />}
          <p class="row">
            <button type="submit" class="primary" disabled={!isComplete || isSending}>
              Place order
            </button>
            <Copy name="curl" text={asCurl(order)} />
            <Copy name="TypeScript" text={asTypeScript(order)} />
            <Copy name="Python" text={asPython(order)} />
          </p>
          {error !== undefined && <Refusal error={error} />}
        </form>
        {isComplete ? (
          <Preview order={order} />
        ) : (
          <Empty>Choose an instrument to preview the order here before you place it.</Empty>
        )}
      </div>
    </>
  );
}

function Preview({ order }: { readonly order: CreateOrderBody }) {
  const broker = useBroker();
  const [state, setState] = useState<{ readonly preview?: OrderPreview; readonly error?: Error }>({});
  const key = JSON.stringify(order);
  useEffect(() => {
    const over = new AbortController();
    const timer = setTimeout(() => {
      broker.call('previewOrder', { body: order, signal: over.signal }).then(
        (preview) => setState({ preview }),
        (error: unknown) => {
          if (!over.signal.aborted) setState({ error: errorFrom(error) });
        },
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [key]);
  const { preview, error } = state;
  return (
    <section class="panel" aria-label="Preview" aria-live="polite">
      <h2>Preview</h2>
      {error !== undefined && <Refusal error={error} />}
      {preview === undefined && error === undefined && <p class="waiting">…</p>}
      {preview !== undefined && <PreviewResult preview={preview} />}
    </section>
  );
}

/** `: available cash 12,000.00, required amount 5,152,140.00`: the figures of a refusal, as it names them. */
function figuresOf(details: object): string {
  const texts = Object.entries(details).flatMap(([name, value]) => {
    const title = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    if (typeof value === 'number')
      return [`${title} ${/quantity|level/i.test(name) ? quantity(value) : money(value)}`];
    return name === 'nextOpen' && typeof value === 'string' ? [`${title} ${moment(value)}`] : [];
  });
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`;
}

function PreviewResult({ preview }: { readonly preview: OrderPreview }) {
  const { accepted, rejections, dayTrade } = preview;
  const lines: readonly (readonly [string, string])[] = [
    ['Estimated price', price(preview.estimatedPrice)],
    ['Estimated cost', money(preview.estimatedCost)],
    ['Commission', money(preview.commission)],
    ...preview.fees.map(({ name, amount }) => [name, money(amount)] as const),
    ['Reserved', money(preview.reserves)],
    ['Settles', preview.settlementDate ?? '–'],
    [
      'Day trades in the window',
      `${dayTrade.countInWindow}${dayTrade.wouldCount ? ', this may be one more' : ''}${dayTrade.restricted ? ', restricted' : ''}`,
    ],
  ];
  const changes = [
    ['Settled cash', preview.cash],
    ['Buying power', preview.buyingPower],
    ['Initial margin', preview.initialMargin],
    ['Maintenance margin', preview.maintenanceMargin],
  ] as const;
  return (
    <>
      {accepted ? (
        <p class="up">The order would be accepted.</p>
      ) : (
        <div class="notice problem">
          <p>The order would be rejected:</p>
          <ul>
            {rejections.map(({ code, message, ...details }) => (
              <li key={code}>
                {message}
                {figuresOf(details)}
              </li>
            ))}
          </ul>
        </div>
      )}
      <dl class="lines">
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="table-box dense" tabIndex={0} role="region" aria-label="Before and after">
        <table>
          <thead>
            <tr>
              <th scope="col">Portfolio</th>
              <th scope="col" class="number">
                Before
              </th>
              <th scope="col" class="number">
                After
              </th>
              <th scope="col" class="number wide">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            {changes.map(([name, { before, after }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{money(before)}</td>
                <td class="number">{money(after)}</td>
                <td class="number wide">{change(after - before)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
