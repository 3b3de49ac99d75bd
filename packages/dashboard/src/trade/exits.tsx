/** Take profit and stop loss, typed as a price, a percentage or dollars, with the gain and the loss that they mean. */
import type { OrderType, PositionIntent } from '@sandpit/protocol';
import { change, numberTyped, percentChange, price } from '../format.ts';
import { Field, Select } from '../parts/field.tsx';
import { setQuery } from '../route.ts';
import { type Entry, exitPrice, exitUnit, outcomeAt, takesStop, type TicketKind } from './ticket-body.ts';

const UNITS = [
  ['price', 'at price'],
  ['percent', '%'],
  ['dollars', '$ in all'],
] as const;

interface ExitsProps {
  readonly query: URLSearchParams;
  readonly kind: TicketKind;
  readonly type: OrderType;
  readonly intent: PositionIntent;
  readonly entry: Entry;
  readonly problems: ReadonlyMap<string, string>;
}

export function Exits({ query, kind, type, intent, entry, problems }: ExitsProps) {
  const isOpening = kind !== 'SPREAD' && intent.endsWith('OPEN');
  const isPair = takesStop(kind, type, intent);
  if (!isOpening && !isPair) return null;
  const isUsed = query.has('target') || query.has('guard');
  // The stop of a closing order protects the position: it is on the other side of the market.
  const own = isPair ? { ...entry, isBuy: !entry.isBuy } : entry;
  return (
    <details class="exits" open={isUsed}>
      <summary>
        {isOpening ? 'Take profit and stop loss' : 'Stop loss beside it: one cancels the other'}
      </summary>
      {isOpening && <Exit name="target" title="Take profit" query={query} entry={own} problems={problems} />}
      <Exit name="guard" title="Stop loss" query={query} entry={own} problems={problems} />
    </details>
  );
}

function Exit({
  name,
  title,
  query,
  entry,
  problems,
}: {
  readonly name: 'target' | 'guard';
  readonly title: string;
  readonly query: URLSearchParams;
  readonly entry: Entry;
  readonly problems: ReadonlyMap<string, string>;
}) {
  const unit = exitUnit(query, name);
  const typed = numberTyped(query.get(name) ?? '');
  const at = typed === undefined ? undefined : exitPrice(typed, unit, name, entry);
  const outcome = at === undefined ? undefined : outcomeAt(at, entry);
  const meant =
    at === undefined || outcome === undefined || !Number.isFinite(outcome)
      ? undefined
      : `${outcome >= 0 ? 'Gain' : 'Loss'} ${change(outcome)} (${percentChange(at / entry.price - 1)}) at ${price(at)}`;
  const isWrong = outcome !== undefined && (name === 'target' ? outcome < 0 : outcome > 0);
  return (
    <div class="pair">
      <Field
        name={title}
        inputMode="decimal"
        value={query.get(name) ?? ''}
        problem={
          problems.get(name) ??
          (isWrong
            ? `${meant ?? ''}: on the wrong side of the entry for a ${title.toLowerCase()}.`
            : undefined)
        }
        note={meant}
        onChange={(value) => setQuery({ [name]: value, guardLimit: undefined })}
      />
      <Select
        name={`${title} in`}
        plain
        value={unit}
        options={UNITS}
        onChange={(value) => setQuery({ [`${name}Unit`]: value === 'price' ? undefined : value })}
      />
    </div>
  );
}
