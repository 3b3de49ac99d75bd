/** Scripted outcomes of the next orders, and the number of orders that each has applied to. */
import type { OutcomeBody, ScriptedOutcome, Simulation } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped, price, quantity, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';

const KINDS = [
  ['fill', 'Fill in pieces'],
  ['reject', 'Refuse at once'],
  ['rejectLater', 'Accept, then reject'],
  ['hold', 'Hold without fills'],
  ['onCancel', 'Disobey a cancel'],
  ['error', 'End in ERROR'],
] as const;

const CODES = [
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_POSITION',
  'MARKET_CLOSED',
  'TRADING_HALTED',
  'NOT_SHORTABLE',
  'DAY_TRADE_RESTRICTED',
  'MARGIN_CALL_ACTIVE',
  'BROKER_RESTRICTION',
  'STALE_MARKET_DATA',
] as const;

const RESTS = [
  ['market', 'goes on as a normal order'],
  ['hold', 'stays open'],
  ['cancel', 'is canceled'],
] as const;

const CANCELS = [
  ['fill', 'fill the order instead'],
  ['ignore', 'answer and do nothing'],
  ['reject', 'refuse the cancel'],
] as const;

const TYPES = [['', 'Any'], 'MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TRAILING_STOP'] as const;

/** Pieces as `30%, 70%@5s, 100@187.60`: percent or quantity, then after `@` a price or, with a unit, a delay. Undefined = not understood. */
export function piecesOf(text: string): NonNullable<OutcomeBody['outcome']['fill']> | undefined {
  const pieces = text
    .split(',')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .map((piece) => {
      const match = /^(\d+(?:\.\d+)?)(%?)(?:@(\d+(?:\.\d+)?)(ms|s|m)?)?$/.exec(piece);
      if (match === null) return undefined;
      const [, size = '', isPercent, figure, unit] = match;
      const scale = unit === 'ms' ? 0.001 : unit === 'm' ? 60 : 1;
      return {
        ...(isPercent === '%' ? { percent: Number(size) } : { quantity: Number(size) }),
        ...(figure !== undefined &&
          (unit === undefined ? { price: Number(figure) } : { after: `PT${Number(figure) * scale}S` })),
      };
    });
  return pieces.includes(undefined) || pieces.length === 0
    ? undefined
    : (pieces as NonNullable<OutcomeBody['outcome']['fill']>);
}

/** An outcome in words. */
function outcomeText({
  reject,
  rejectLater,
  fill,
  rest,
  hold,
  onCancel,
  error,
}: ScriptedOutcome['outcome']): string {
  if (reject !== undefined) return `Refused: ${reject.code}`;
  if (rejectLater !== undefined)
    return `Accepted, then rejected${rejectLater.after === undefined ? '' : ` after ${rejectLater.after}`}: ${rejectLater.code}`;
  if (fill !== undefined) {
    const pieces = fill.map((piece) =>
      [
        piece.percent === undefined ? quantity(piece.quantity) : `${piece.percent}%`,
        piece.price === undefined ? '' : ` at ${price(piece.price)}`,
        piece.after === undefined ? '' : ` after ${piece.after}`,
      ].join(''),
    );
    return `Fills ${pieces.join(', ')}; the rest ${RESTS.find(([value]) => value === (rest ?? 'market'))?.[1] ?? ''}`;
  }
  if (hold !== undefined)
    return `Held ${hold.for === undefined ? 'until this is deleted' : `for ${hold.for}`}`;
  if (onCancel !== undefined) return `On cancel: ${CANCELS.find(([value]) => value === onCancel)?.[1] ?? ''}`;
  return `Ends in ERROR${error?.message === undefined ? '' : `: ${error.message}`}`;
}

const matchText = (match: ScriptedOutcome['match']): string => {
  const parts = Object.entries(match).map(([name, value]) =>
    name === 'portfolioId' ? `portfolio ${String(value).slice(0, 8)}` : words(String(value)),
  );
  return parts.length === 0
    ? 'Every order'
    : [match.symbol, ...parts.filter((part) => part.toUpperCase() !== match.symbol)]
        .filter(Boolean)
        .join(', ');
};

export function Scripts({ simulation }: { readonly simulation: Simulation }) {
  const broker = useBroker();
  const outcomes = useLoad(
    () => broker.call('listOutcomes', { query: { limit: 500 } }),
    [broker.simulationId],
  );
  useEvery(5000, outcomes.reload);
  const [error, setError] = useState<Error>();
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(outcomes.reload, (problem: unknown) => setError(errorFrom(problem)));
  };
  const rows = outcomes.value?.data ?? [];
  return (
    <>
      <p class="why">
        The oldest matching script sets the outcome of an order. A client order id can script its own order
        too: <code>~fill:30%,70%@5s</code>, <code>~reject:INSUFFICIENT_FUNDS</code>, <code>~hold@10s</code>,{' '}
        <code>~error</code>
        {simulation.scripts === false && ' (off in this simulation)'}.{' '}
        <a href="/docs/how-to/scripted-outcomes">Scripted outcomes</a>
      </p>
      <NewOutcome onSubmit={(body) => after(broker.call('createOutcome', { body }))} />
      {error !== undefined && <Refusal error={error} />}
      {outcomes.error !== undefined && <Problem error={outcomes.error} retry={outcomes.reload} />}
      {rows.length === 0 ? (
        <p class="notice">No scripts. Orders execute as usual.</p>
      ) : (
        <Table
          label="Scripts"
          rows={rows}
          keyOf={({ outcomeId }) => outcomeId}
          columns={[
            { title: 'Orders', cell: ({ match }: ScriptedOutcome) => matchText(match) },
            { title: 'Outcome', isLong: true, cell: ({ outcome }: ScriptedOutcome) => outcomeText(outcome) },
            {
              title: 'Used',
              isNumber: true,
              cell: ({ used, times }: ScriptedOutcome) =>
                `${quantity(used)} of ${times === 0 ? '∞' : quantity(times)}`,
            },
            {
              title: 'Delete',
              cell: ({ outcomeId, outcome }: ScriptedOutcome) => (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete script: ${outcomeText(outcome)}`}
                  onClick={() => after(broker.call('deleteOutcome', { params: { outcomeId } }))}
                >
                  delete
                </button>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

function NewOutcome({ onSubmit }: { readonly onSubmit: (body: OutcomeBody) => void }) {
  const [kind, setKind] = useState<string>('fill');
  const [symbol, setSymbol] = useState('');
  const [orderType, setOrderType] = useState('');
  const [clientOrderId, setClientOrderId] = useState('');
  const [pieces, setPieces] = useState('30%');
  const [rest, setRest] = useState<string>('hold');
  const [code, setCode] = useState<string>(CODES[0]);
  const [seconds, setSeconds] = useState('');
  const [onCancel, setOnCancel] = useState<string>('fill');
  const [message, setMessage] = useState('');
  const [times, setTimes] = useState('1');
  const fill = piecesOf(pieces);
  const outcome = (): OutcomeBody['outcome'] => {
    const duration = seconds === '' ? undefined : `PT${seconds}S`;
    switch (kind) {
      case 'reject':
        return { reject: { code: code as (typeof CODES)[number] } };
      case 'rejectLater':
        return {
          rejectLater: {
            code: code as (typeof CODES)[number],
            ...(duration !== undefined && { after: duration }),
          },
        };
      case 'hold':
        return { hold: duration === undefined ? {} : { for: duration } };
      case 'onCancel':
        return { onCancel: onCancel as 'fill' };
      case 'error':
        return { error: message === '' ? {} : { message } };
      default:
        return { fill: fill ?? [], rest: rest as 'hold' };
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isValid(event)) return;
    const count = numberTyped(times);
    onSubmit({
      match: {
        ...(symbol.trim() !== '' && { symbol: symbol.trim().toUpperCase() }),
        ...(orderType !== '' && { orderType: orderType as 'LIMIT' }),
        ...(clientOrderId.trim() !== '' && { clientOrderId: clientOrderId.trim() }),
      },
      outcome: outcome(),
      ...(count !== undefined && { times: count }),
    });
  };
  return (
    <form class="panel grid" onSubmit={submit} aria-label="New script">
      <Field name="Symbol" value={symbol} onChange={setSymbol} placeholder="any" />
      <Select name="Order type" value={orderType} options={TYPES} onChange={setOrderType} />
      <Field
        name="Client order id"
        value={clientOrderId}
        onChange={setClientOrderId}
        placeholder="any, or retry-*"
      />
      <Select name="Outcome" plain value={kind} options={KINDS} onChange={setKind} />
      {kind === 'fill' && (
        <>
          <Field name="Pieces" value={pieces} onChange={setPieces} placeholder="30%, 70%@5s" />
          <Select name="The rest" plain value={rest} options={RESTS} onChange={setRest} />
        </>
      )}
      {(kind === 'reject' || kind === 'rejectLater') && (
        <Select name="Code" plain value={code} options={CODES} onChange={setCode} />
      )}
      {(kind === 'rejectLater' || kind === 'hold') && (
        <Field
          name={kind === 'hold' ? 'For seconds' : 'After seconds'}
          value={seconds}
          onChange={setSeconds}
          inputMode="decimal"
          placeholder={kind === 'hold' ? 'until deleted' : 'at once'}
        />
      )}
      {kind === 'onCancel' && (
        <Select name="A cancel" plain value={onCancel} options={CANCELS} onChange={setOnCancel} />
      )}
      {kind === 'error' && <Field name="Message" value={message} onChange={setMessage} />}
      <NumberField name="Orders (0 = all)" value={times} onChange={setTimes} />
      <button type="submit" class="primary" disabled={kind === 'fill' && fill === undefined}>
        Add script
      </button>
      {kind === 'fill' && fill === undefined && (
        <p class="why" role="status">
          Pieces are percentages or quantities, separated by commas, with a price or a delay behind @: 30%,
          70%@5s or 100@187.60.
        </p>
      )}
    </form>
  );
}
