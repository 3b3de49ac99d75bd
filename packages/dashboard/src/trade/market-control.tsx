/** Controls of a simulation's market. */
import type { CorporateAction } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped, price } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import { actionText } from '../time/coming.ts';

/** Sets the quote of a symbol, for the push feed. */
export function PushQuote({ symbol }: { readonly symbol: string }) {
  const broker = useBroker();
  const simulation = useLoad(
    () => broker.call('getSimulation', { params: { simulationId: broker.simulationId } }),
    [broker.simulationId],
  );
  const [bid, setBid] = useState('');
  const [ask, setAsk] = useState('');
  const [error, setError] = useState<Error>();
  const [said, setSaid] = useState('');
  if (simulation.value?.feed !== 'push') return null;
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    if (!isValid(event)) return;
    const quote = { symbol, bid: numberTyped(bid) ?? Number.NaN, ask: numberTyped(ask) ?? Number.NaN };
    broker.call('pushQuotes', { body: { quotes: [quote] } }).then(
      () => setSaid(`${symbol} stands at ${price(quote.bid)} × ${price(quote.ask)}.`),
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <form class="panel" onSubmit={submit} aria-label="Set the quote">
      <h2>Set the quote</h2>
      <div class="grid">
        <NumberField name="Bid" value={bid} onChange={setBid} />
        <NumberField name="Ask" value={ask} onChange={setAsk} />
        <button type="submit">Push</button>
      </div>
      <p role="status">{said}</p>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

/** Splits and dividends: announced ones, and a form for a new one. */
export function CorporateActions({ symbol }: { readonly symbol: string }) {
  const broker = useBroker();
  const actions = useLoad(() => broker.call('listCorporateActions'), [broker.simulationId]);
  const [type, setType] = useState('CASH_DIVIDEND');
  const [exDate, setExDate] = useState('');
  const [figure, setFigure] = useState('');
  const [error, setError] = useState<Error>();
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    const [fresh = 1, old = 1] = figure.split(':').map(Number);
    const action: CorporateAction =
      type === 'SPLIT'
        ? { type: 'SPLIT', symbol, exDate, ratio: { new: fresh, old } }
        : { type: 'CASH_DIVIDEND', symbol, exDate, amountPerShare: numberTyped(figure) ?? Number.NaN };
    broker
      .call('addCorporateActions', { body: { actions: [action] } })
      .then(actions.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const mine = actions.value?.actions.filter((one) => one.symbol === symbol) ?? [];
  return (
    <details class="panel">
      <summary>Corporate actions{mine.length > 0 && ` (${mine.length})`}</summary>
      <ul>
        {mine.map((one) => (
          <li key={one.actionId}>
            {one.exDate}:{' '}
            {one.type === 'CASH_DIVIDEND' || one.type === 'SPECIAL_DIVIDEND'
              ? `dividend ${price(one.amountPerShare ?? one.cashPerShare)} a share`
              : actionText(one)}
            , {one.status.toLowerCase()}
          </li>
        ))}
      </ul>
      {broker.controlsMarket && (
        <form class="grid" onSubmit={submit} aria-label="Announce a corporate action">
          <Select name="Action" value={type} options={['CASH_DIVIDEND', 'SPLIT']} onChange={setType} />
          <Field name="Ex-date" value={exDate} onChange={setExDate} type="date" />
          <Field
            name={type === 'SPLIT' ? 'New : old shares' : 'Dollars per share'}
            value={figure}
            onChange={setFigure}
            placeholder={type === 'SPLIT' ? '2:1' : '0.25'}
          />
          <button type="submit">Announce</button>
        </form>
      )}
      {error !== undefined && <Refusal error={error} />}
    </details>
  );
}
