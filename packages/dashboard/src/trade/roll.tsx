/** Rolling: up to two contracts by one order (D76, D269), a strategy of more by two, because an order has four legs at most. */
import type { Leg, OptionChainContract } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, quantity } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { contractText, legsOf, optionNamed, textOfLegs } from '../option-legs.ts';
import { Select } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { Dialog } from '../ui/dialog.tsx';
import { LOOK_MS } from './chain.ts';
import {
  closingTicket,
  type Held,
  headingOf,
  reopeningLegs,
  rollingTicket,
  successorsOf,
} from '../strategy.ts';
import { netText } from './net-price.ts';
import { marketOf } from './tray-legs.ts';

/** The choice of all legs. */
const ALL = 'all';
/** Contracts that one order closes and opens again. */
const MOST_AT_ONCE = 2;
/** Listed strikes by which a roll may move. */
const SHIFTS = [-3, -2, -1, 0, 1, 2, 3] as const;

export function RollDialog({
  portfolioId,
  held,
  onClose,
}: {
  readonly portfolioId: string;
  /** The contracts of a position or of a strategy. */
  readonly held: readonly Held[];
  readonly onClose: () => void;
}) {
  const broker = useBroker();
  const [from, setFrom] = useState(isOfOneDate(held) ? ALL : (held[0]?.symbol ?? ''));
  const [chosen, setChosen] = useState({ expiration: '', shift: 0 });
  const rolled = from === ALL ? held : held.filter(({ symbol }) => symbol === from);
  const option = optionNamed(rolled[0]?.symbol ?? '');
  const underlying = option?.underlying ?? '';
  const expirations = useLoad(
    async () => (await broker.call('listOptionExpirations', { params: { underlying } })).expirations,
    [underlying],
  );
  const isByTwo = rolled.length > MOST_AT_ONCE;
  const later = (expirations.value ?? []).filter((date) =>
    isByTwo ? date > (option?.expiration ?? '') : date >= (option?.expiration ?? ''),
  );
  const expiration =
    chosen.expiration !== ''
      ? chosen.expiration
      : (later.find((date) => date > (option?.expiration ?? '')) ?? later[0] ?? '');
  const chainOf = async (date: string | undefined): Promise<readonly OptionChainContract[]> =>
    date === undefined || date === ''
      ? []
      : (await broker.call('getOptionChain', { params: { underlying }, query: { expiration: date } }))
          .contracts;
  const chain = useLoad(() => chainOf(expiration), [underlying, expiration]);
  const own = useLoad(() => chainOf(option?.expiration), [underlying, option?.expiration]);
  const reload = (): void => {
    expirations.reload();
    chain.reload();
    own.reload();
  };
  // The net price follows the market, and a read that failed is repeated.
  useEvery(LOOK_MS, reload);
  const market = new Map(
    [...(own.value ?? []), ...(chain.value ?? [])].map((one) => [one.optionSymbol, one] as const),
  );
  const reopening = isByTwo ? reopeningLegs(rolled, chain.value ?? []) : undefined;
  const ticketOf = (shift: number) => {
    const next = successorsOf(rolled, chain.value ?? [], shift);
    return next === undefined ? undefined : rollingTicket(portfolioId, rolled, next);
  };
  const shifts = isByTwo ? [] : SHIFTS.filter((shift) => ticketOf(shift) !== undefined);
  const shift = shifts.find((one) => one === chosen.shift) ?? shifts.find((one) => one >= 0) ?? shifts[0];
  const ticket = isByTwo
    ? closingTicket(portfolioId, rolled)
    : shift === undefined
      ? undefined
      : ticketOf(shift);
  const legs = legsOf(String(ticket?.legs ?? ''));
  const net = marketOf([...legs, ...(reopening ?? [])], market).middle;
  const units = Number(ticket?.quantity ?? 1);
  const isPossible = ticket !== undefined && (!isByTwo || reopening !== undefined);
  const roll = (event: Event): void => {
    event.preventDefault();
    if (!isPossible) return;
    onClose();
    go(
      hrefOf(broker.simulationId, `trade/${underlying}`, {
        ...ticket,
        symbol: undefined,
        show: 'options',
        ...(reopening !== undefined && { then: textOfLegs(reopening) }),
      }),
    );
  };
  const problem = expirations.error ?? chain.error ?? own.error;
  return (
    <Dialog title={`Roll ${underlying}`} onClose={onClose}>
      <form class="stack" onSubmit={roll}>
        {held.length > 1 && (
          <Select
            name="Roll"
            plain
            value={from}
            options={[
              ...(isOfOneDate(held) ? [[ALL, `All legs: ${headingOf(openingOf(held))}`] as const] : []),
              ...held.map(
                (one) => [one.symbol, `${quantity(one.quantity)} × ${contractText(one.symbol)}`] as const,
              ),
            ]}
            onChange={(next) => {
              setFrom(next);
              setChosen({ expiration: '', shift: 0 });
            }}
          />
        )}
        {isByTwo && (
          <p class="dim small">
            One order has four legs at most, so that this requires two orders: the first closes all legs, the
            second opens them at the other expiration. The market can move between them.
          </p>
        )}
        <Select
          name="Expiration"
          plain
          value={expiration}
          options={later.map((date) => [date, dateText(date)] as const)}
          onChange={(date) => setChosen({ ...chosen, expiration: date })}
        />
        {!isByTwo && (
          <Select
            name="Strikes"
            plain
            value={String(shift ?? 0)}
            options={shifts.map((one) => [String(one), strikesAt(one, rolled, chain.value ?? [])] as const)}
            onChange={(next) => setChosen({ expiration, shift: Number(next) })}
          />
        )}
        {problem !== undefined && <Problem error={errorFrom(problem)} retry={reload} />}
        {legs.length > 0 && !isByTwo && (
          <p>
            <strong>{headingOf(legs)}</strong>, one order
          </p>
        )}
        <p role="status">
          {chain.value !== undefined && !isPossible
            ? 'This expiration does not list these strikes. Choose another one, or close the position and choose the new legs in the chain.'
            : net === undefined
              ? 'No net price yet.'
              : `In the middle: ${netText(net)} a share, ${change(-net * 100 * units)} in all.`}
        </p>
        <button type="submit" class="primary" disabled={!isPossible}>
          {isByTwo ? 'Put the first order on the ticket' : 'Put on the ticket'}
        </button>
      </form>
    </Dialog>
  );
}

/** `Same: 200/205`, `1 up: 205/210`. */
function strikesAt(shift: number, held: readonly Held[], contracts: readonly OptionChainContract[]): string {
  const strikes = (successorsOf(held, contracts, shift) ?? [])
    .map((symbol) => optionNamed(symbol)?.strike ?? 0)
    .sort((a, b) => a - b);
  const text = [...new Set(strikes)].join('/');
  const where = shift === 0 ? 'Same' : `${Math.abs(shift)} ${shift > 0 ? 'up' : 'down'}`;
  return `${where}: ${text}`;
}

const isOfOneDate = (held: readonly Held[]): boolean =>
  new Set(held.map(({ symbol }) => optionNamed(symbol)?.expiration)).size === 1;

/** Held contracts as the order that opened them. */
const openingOf = (held: readonly Held[]): readonly Leg[] =>
  held.map(({ symbol, quantity: count }) => ({
    optionSymbol: symbol,
    positionIntent: count > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
    quantity: Math.abs(count),
  }));
