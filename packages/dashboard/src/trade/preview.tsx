/** Preview of the order, requested again whenever the ticket or a quote changes. */
import type { CreateOrderBody, OrderPreview } from '@sandpit/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, money, price } from '../format.ts';
import type { QuoteFeed } from '../live/quotes.ts';
import { errorFrom } from '../load.ts';
import { Refusal } from '../parts/notice.tsx';
import { PageButton, Rule } from '../why/rule.tsx';
import { Term } from '../why/term.tsx';
import type { TermName } from '../why/terms.ts';
import { type RuleName, ruleOfCode } from '../why/rule-pages.ts';
import { netText } from './net-price.ts';
import { type Rejection, remedyOf } from './remedy.ts';

/** Pause in typing after which the preview is requested. */
const QUIET_MS = 200;
/** Minimum interval between two previews caused by quotes: 60 requests a minute, of the 1,000 that a route allows. */
const QUOTE_MS = 1000;
/** Pause after a preview that failed. */
const RETRY_MS = 3000;

export interface PreviewState {
  readonly preview?: OrderPreview;
  readonly error?: Error;
  /** The order that it is of. */
  readonly of?: CreateOrderBody;
}

/** The preview of an order, kept current; undefined for an incomplete order. */
export function usePreview(
  order: CreateOrderBody | undefined,
  feed: QuoteFeed,
  symbols: readonly string[],
): PreviewState {
  const broker = useBroker();
  const [state, setState] = useState<PreviewState>({});
  const latest = useRef(order);
  latest.current = order;
  const key = JSON.stringify(order);
  const watched = symbols.join(',');
  useEffect(() => {
    if (order === undefined) {
      setState({});
      return undefined;
    }
    const over = new AbortController();
    let isAsking = false;
    let isAskedAgain = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      isAskedAgain = isAsking;
      if (isAsking) return;
      isAsking = true;
      broker
        .call('previewOrder', { body: order, signal: over.signal })
        .then(
          (preview) => setState({ preview, of: order }),
          (error: unknown) => {
            if (over.signal.aborted) return;
            setState({ error: errorFrom(error), of: order });
            // On a market that stands still no quote asks again.
            again = setTimeout(ask, RETRY_MS);
          },
        )
        .finally(() => {
          isAsking = false;
          if (isAskedAgain && !over.signal.aborted) ask();
        });
    };
    const first = setTimeout(ask, QUIET_MS);
    let due: ReturnType<typeof setTimeout> | undefined;
    const onQuote = (): void => {
      due ??= setTimeout(() => {
        due = undefined;
        if (document.visibilityState === 'visible') ask();
      }, QUOTE_MS);
    };
    const ends = symbols.map((symbol) => feed.on(symbol, onQuote));
    return () => {
      over.abort();
      clearTimeout(first);
      clearTimeout(due);
      clearTimeout(again);
      for (const end of ends) end();
    };
  }, [broker, feed, key, watched]);
  return order === undefined ? {} : state;
}

export function Preview({
  state,
  missing,
}: {
  readonly state: PreviewState;
  readonly missing: string | undefined;
}) {
  const { preview, error, of } = state;
  return (
    <section aria-label="Preview" class="preview">
      <h2>Preview</h2>
      {missing !== undefined && <p class="dim">{missing}</p>}
      {missing === undefined && error !== undefined && <Refusal error={error} />}
      {missing === undefined && preview === undefined && error === undefined && <p class="waiting">…</p>}
      {missing === undefined && preview !== undefined && of !== undefined && (
        <Result preview={preview} order={of} />
      )}
    </section>
  );
}

function Result({ preview, order }: { readonly preview: OrderPreview; readonly order: CreateOrderBody }) {
  const { accepted, rejections, dayTrade } = preview;
  const lines: readonly (readonly [name: string, text: string, rule?: RuleName, term?: TermName])[] = [
    ['Estimated price', (order.legs === undefined ? price : netText)(preview.estimatedPrice), 'fillModels'],
    [
      (preview.estimatedCost ?? 0) < 0 ? 'Estimated proceeds' : 'Estimated cost',
      money(preview.estimatedCost === undefined ? undefined : Math.abs(preview.estimatedCost)),
    ],
    ['Commission', money(preview.commission), 'fees'],
    ...preview.fees.map(({ name, amount }) => [name, money(amount)] as const),
    ['Reserved', money(preview.reserves), 'reservations'],
    ...(preview.settlementDate === undefined
      ? []
      : [['Settles', dateText(preview.settlementDate), 'settlement'] as const]),
    [
      'Day trades in the window',
      `${dayTrade.countInWindow}${dayTrade.wouldCount ? ', this may be one more' : ''}${dayTrade.restricted ? ', restricted' : ''}`,
      'dayTrades',
      'dayTrades',
    ],
  ];
  const changes = [
    ['Net cash', preview.cash, 'Settled and pending cash, less the margin loan', 'cash'],
    ['Buying power', preview.buyingPower, undefined, 'regT', 'buyingPower'],
    ['Initial margin', preview.initialMargin, undefined, 'regT', 'initialMargin'],
    ['Maintenance', preview.maintenanceMargin, undefined, 'regT', 'maintenance'],
  ] as const;
  return (
    <>
      {accepted ? (
        <p class="up">The order would be accepted.</p>
      ) : (
        <div class="notice problem">
          <p>The order would be rejected:</p>
          <ul>
            {rejections.map((rejection) => (
              <li key={rejection.code}>
                <RefusalText rejection={rejection} order={order} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <dl class="lines">
        {lines.map(([name, value, rule, term]) => (
          <div key={name}>
            <dt>
              {term === undefined ? name : <Term name={term}>{name}</Term>}{' '}
              {rule !== undefined && <Rule name={rule} />}
            </dt>
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
                After
              </th>
              <th scope="col" class="number">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            {changes.map(([name, { before, after }, title, rule, term]) => (
              <tr key={name}>
                <th scope="row" title={title}>
                  {term === undefined ? name : <Term name={term}>{name}</Term>} <Rule name={rule} />
                </th>
                <td class="number" title={`Before: ${money(before)}`}>
                  {money(after)}
                </td>
                <td class="number">{change(after - before)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** A refusal as a sentence, a change that would make the order acceptable, and the rule. */
export function RefusalText({
  rejection,
  order,
}: {
  readonly rejection: Rejection;
  readonly order: Pick<CreateOrderBody, 'quantity'>;
}) {
  const { code, message } = rejection;
  const rule = ruleOfCode(code, rejection);
  return (
    <>
      {/[.!?]$/.test(message) ? message : `${message}.`} <strong>{remedyOf(rejection, order)}</strong>{' '}
      {rule !== undefined && <PageButton page={rule}>Why</PageButton>}
    </>
  );
}
