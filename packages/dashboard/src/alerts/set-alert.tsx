/** The dialog that sets an alert on a symbol, or changes one. */
import type { Alert } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped, price } from '../format.ts';
import { errorFrom } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { announce } from '../ui/toaster.tsx';
import { conditionFor, levelText } from './alert-events.ts';
import { alertsChanged } from './alerts-changed.ts';

export function AlertDialog({
  symbol: given = '',
  alert,
  onClose,
}: {
  readonly symbol?: string;
  readonly alert?: Alert;
  readonly onClose: () => void;
}) {
  const broker = useBroker();
  const [symbol, setSymbol] = useState(alert?.symbol ?? given);
  const [level, setLevel] = useState(alert === undefined ? '' : String(alert.price));
  const [chosen, setChosen] = useState<Alert['condition'] | undefined>(alert?.condition);
  const [note, setNote] = useState(alert?.note ?? '');
  const [market, setMarket] = useState<number>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const wanted = symbol.trim().toUpperCase();
    if (wanted === '') return undefined;
    let isOver = false;
    broker.call('getQuote', { params: { symbol: wanted } }).then(
      (quote) => {
        if (!isOver) setMarket(quote.price);
      },
      () => {
        if (!isOver) setMarket(undefined);
      },
    );
    return () => {
      isOver = true;
    };
  }, [symbol]);
  const value = numberTyped(level) ?? 0;
  const condition = chosen ?? conditionFor(value, market);
  const isAtOnce =
    market !== undefined && value > 0 && (condition === 'ABOVE' ? market >= value : market <= value);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isValid(event)) return;
    setError(undefined);
    const noted = note.trim() === '' ? {} : { note: note.trim() };
    const body = { condition, price: value, ...noted };
    const done =
      alert === undefined
        ? broker.call('createAlert', { body: { symbol, ...body } })
        : broker.call('updateAlert', { params: { alertId: alert.alertId }, body });
    done.then(
      (set) => {
        if (set.status === 'ACTIVE') announce('Alert set', `${levelText(set)}.`, 'success', 'alert set');
        alertsChanged();
        onClose();
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <Dialog
      title={
        alert === undefined
          ? `Alert${given === '' ? '' : ` on ${given}`}`
          : `Change the alert on ${alert.symbol}`
      }
      onClose={onClose}
    >
      <form class="stack" aria-label="Alert" onSubmit={submit}>
        {given === '' && alert === undefined && (
          <Field name="Symbol" value={symbol} onChange={(text) => setSymbol(text.toUpperCase())} />
        )}
        <NumberField
          name="Price"
          value={level}
          onChange={setLevel}
          note={market === undefined ? undefined : `Now ${price(market)}.`}
        />
        <Select
          name="Fires when the price is"
          plain
          value={condition}
          options={[
            ['ABOVE', 'at this price or above'],
            ['BELOW', 'at this price or below'],
          ]}
          onChange={(next) => setChosen(next as Alert['condition'])}
        />
        <Field name="Note" value={note} onChange={setNote} placeholder="Optional" />
        {isAtOnce && <p class="dim small">The price is there already: the alert fires at once.</p>}
        {error !== undefined && <Refusal error={error} />}
        <button type="submit" class="primary" disabled={!(value > 0) || symbol.trim() === ''}>
          {alert === undefined ? 'Set alert' : 'Save and arm'}
        </button>
      </form>
    </Dialog>
  );
}
