/** The watch lists: symbols with name, line of the day, price and change, kept in this browser. */
import { EllipsisVertical } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { AlertDialog } from '../alerts/set-alert.tsx';
import { useBroker } from '../broker.ts';
import { percentChange, tone } from '../format.ts';
import { type QuoteFeed, useQuote } from '../live/quotes.ts';
import { FlashingPrice } from '../parts/flashing-price.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { symbolHref } from './open-symbol.ts';
import { type DayOfSymbol, useDays, useNames } from './watch-figures.ts';
import {
  addSet,
  addSymbol,
  MOST_LISTS,
  moveSet,
  moveSymbol,
  nameProblem,
  removeSet,
  removeSymbol,
  renameSet,
  symbolsOf,
  type WatchSets,
} from './watch-sets.ts';

export function WatchList({
  sets,
  current,
  feed,
  onChange,
}: {
  readonly sets: WatchSets;
  readonly current: string;
  readonly feed: QuoteFeed;
  readonly onChange: (sets: WatchSets) => void;
}) {
  const broker = useBroker();
  const symbols = symbolsOf(sets);
  const days = useDays(symbols);
  const names = useNames();
  const [typed, setTyped] = useState('');
  const [alertOn, setAlertOn] = useState<string>();
  const add = (event: Event): void => {
    event.preventDefault();
    onChange(addSymbol(sets, typed));
    setTyped('');
  };
  const mayAlert = broker.may('trade') && !broker.claims.isEntry;
  const actionsOf = (symbol: string): readonly MenuItem[] => [
    ...(mayAlert ? [{ id: 'alert', title: 'Set an alert', act: () => setAlertOn(symbol) }] : []),
    { id: 'up', title: 'Move up', act: () => onChange(moveSymbol(sets, symbol, -1)) },
    { id: 'down', title: 'Move down', act: () => onChange(moveSymbol(sets, symbol, 1)) },
    { id: 'remove', title: 'Stop watching', act: () => onChange(removeSymbol(sets, symbol)) },
  ];
  return (
    <section class="watch" aria-label="Watch list">
      <Lists sets={sets} onChange={onChange} />
      {symbols.length === 0 ? (
        <p class="dim pad">This list is empty. Add a symbol below.</p>
      ) : (
        <ul class="plain" onKeyDown={(event) => onKey(event, sets, onChange)}>
          {symbols.map((symbol) => (
            <Line
              key={symbol}
              symbol={symbol}
              name={names.get(symbol)}
              day={days?.get(symbol)}
              isCurrent={symbol === current}
              feed={feed}
              actions={actionsOf(symbol)}
            />
          ))}
        </ul>
      )}
      <form class="row" onSubmit={add} aria-label="Add to the watch list">
        <input
          aria-label="Symbol to watch"
          placeholder="Symbol"
          size={9}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit">Add</button>
      </form>
      {alertOn !== undefined && <AlertDialog symbol={alertOn} onClose={() => setAlertOn(undefined)} />}
    </section>
  );
}

/** Arrows move between the symbols, Alt with an arrow moves the symbol itself, Delete removes it. */
function onKey(event: KeyboardEvent, sets: WatchSets, onChange: (sets: WatchSets) => void): void {
  const list = event.currentTarget;
  const link = event.target;
  if (!(list instanceof HTMLElement) || !(link instanceof HTMLAnchorElement)) return;
  const links = [...list.querySelectorAll<HTMLAnchorElement>('li > a')];
  const index = links.indexOf(link);
  const symbol = symbolsOf(sets)[index];
  if (symbol === undefined) return;
  const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
  if (by !== 0) {
    event.preventDefault();
    if (event.altKey) onChange(moveSymbol(sets, symbol, by));
    else links[index + by]?.focus();
  } else if (event.key === 'Delete') {
    event.preventDefault();
    (links[index + 1] ?? links[index - 1])?.focus();
    onChange(removeSymbol(sets, symbol));
  }
}

/** The choice of a list, and what can be done with it. */
function Lists({
  sets,
  onChange,
}: {
  readonly sets: WatchSets;
  readonly onChange: (sets: WatchSets) => void;
}) {
  const [naming, setNaming] = useState<'new' | 'rename'>();
  const [name, setName] = useState('');
  const own = sets.sets[sets.shown];
  const problem = nameProblem(sets, name, naming === 'rename' ? sets.shown : undefined);
  const begin = (what: 'new' | 'rename'): void => {
    setName(what === 'rename' ? (own?.name ?? '') : '');
    setNaming(what);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (problem !== undefined) return;
    onChange(naming === 'new' ? addSet(sets, name) : renameSet(sets, name));
    setNaming(undefined);
  };
  const remove = (): void => {
    if (own !== undefined && (own.symbols.length === 0 || confirm(`Remove the list ${own.name}?`)))
      onChange(removeSet(sets));
  };
  if (naming !== undefined)
    return (
      <form
        class="row"
        onSubmit={submit}
        aria-label={naming === 'new' ? 'New list' : 'Rename the list'}
        onKeyDown={({ key }) => {
          if (key === 'Escape') setNaming(undefined);
        }}
      >
        <input
          aria-label="Name of the list"
          placeholder="Name"
          value={name}
          autoFocus
          aria-invalid={name !== '' && problem !== undefined ? true : undefined}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button type="submit" disabled={problem !== undefined} title={problem}>
          {naming === 'new' ? 'Create' : 'Rename'}
        </button>
        {name !== '' && problem !== undefined && (
          <small class="down" role="status">
            {problem}
          </small>
        )}
      </form>
    );
  return (
    <div class="row lists-of-symbols">
      <select
        aria-label="List"
        value={String(sets.shown)}
        onChange={({ currentTarget }) => onChange({ ...sets, shown: Number(currentTarget.value) })}
      >
        {sets.sets.map((set, index) => (
          <option key={set.name} value={String(index)}>
            {set.name}
          </option>
        ))}
      </select>
      <Menu
        label="Actions of the list"
        items={[
          ...(sets.sets.length < MOST_LISTS
            ? [{ id: 'new', title: 'New list', act: () => begin('new') }]
            : []),
          { id: 'rename', title: 'Rename', act: () => begin('rename') },
          ...(sets.sets.length > 1
            ? [
                { id: 'up', title: 'Move up', act: () => onChange(moveSet(sets, -1)) },
                { id: 'down', title: 'Move down', act: () => onChange(moveSet(sets, 1)) },
              ]
            : []),
          { id: 'remove', title: sets.sets.length > 1 ? 'Remove' : 'Remove all symbols', act: remove },
        ]}
      >
        <EllipsisVertical size={15} aria-hidden="true" />
      </Menu>
    </div>
  );
}

function Line({
  symbol,
  name,
  day,
  isCurrent,
  feed,
  actions,
}: {
  readonly symbol: string;
  readonly name: string | undefined;
  /** Null = not listed; undefined = not read yet. */
  readonly day: DayOfSymbol | null | undefined;
  readonly isCurrent: boolean;
  readonly feed: QuoteFeed;
  readonly actions: readonly MenuItem[];
}) {
  const quote = useQuote(feed, symbol);
  const before = day?.before;
  const part = quote === undefined || before === undefined ? undefined : quote.price / before - 1;
  const line = day?.line ?? [];
  const last = line.at(-1);
  const points =
    quote === undefined || last === undefined || quote.timestamp <= last.atMs
      ? line
      : [...line, { atMs: quote.timestamp, value: quote.price }];
  return (
    <li class={isCurrent ? 'current' : ''}>
      <a href={symbolHref(symbol)} aria-current={isCurrent ? 'true' : undefined} title={name}>
        <strong>{symbol}</strong>{' '}
        <span class="number">
          <FlashingPrice value={quote?.price} />
        </span>{' '}
        <span class="dim small company">{day === null ? 'Not listed' : name}</span>{' '}
        <span class={`number small ${tone(part ?? 0)}`}>{part === undefined ? '' : percentChange(part)}</span>
        {points.length > 1 && <Sparkline points={points} label={`${symbol} today`} height={22} />}
      </a>
      <Menu label={`Actions for ${symbol}`} items={actions}>
        <EllipsisVertical size={15} aria-hidden="true" />
      </Menu>
    </li>
  );
}
