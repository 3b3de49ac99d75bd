/** Rolling: a contract by one order, a strategy by two, because one order closes and opens at most one leg each (D76). */
import type { Leg, OptionChainContract } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, price, quantity } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { contractText, legsOf, optionNamed, textOfLegs } from '../option-legs.ts';
import { Select } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { Dialog } from '../ui/dialog.tsx';
import { closingTicket, type Held, nameOf, reopeningLegs, rollingTicket } from './strategy.ts';
import { netAtMarket } from './tray-legs.ts';

/** The choice of all legs. */
const ALL = 'all';

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
  const whole = wholeOf(portfolioId, held);
  const [from, setFrom] = useState(whole === undefined ? (held[0]?.symbol ?? '') : ALL);
  const [chosen, setChosen] = useState({ expiration: '', symbol: '' });
  const position = held.find(({ symbol }) => symbol === from);
  const option = optionNamed(position?.symbol ?? held[0]?.symbol ?? '');
  const underlying = option?.underlying ?? '';
  const expirations = useLoad(
    async () => (await broker.call('listOptionExpirations', { params: { underlying } })).expirations,
    [underlying],
  );
  const isAll = position === undefined;
  const later = (expirations.value ?? []).filter((date) =>
    isAll ? date > (option?.expiration ?? '') : date >= (option?.expiration ?? ''),
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
  const market = new Map(
    [...(own.value ?? []), ...(chain.value ?? [])].map((one) => [one.optionSymbol, one] as const),
  );
  const contracts = (chain.value ?? []).filter(
    ({ optionType, optionSymbol }) => optionType === option?.optionType && optionSymbol !== from,
  );
  const symbol =
    contracts.find(({ optionSymbol }) => optionSymbol === chosen.symbol)?.optionSymbol ??
    contracts.find(({ strike }) => strike === option?.strike)?.optionSymbol ??
    contracts[0]?.optionSymbol ??
    '';
  const reopening = isAll ? reopeningLegs(held, chain.value ?? []) : undefined;
  const ticket = isAll ? whole?.ticket : rollingTicket(portfolioId, position, symbol);
  const legs = legsOf(String(ticket?.legs ?? ''));
  const net = netAtMarket([...legs, ...(reopening ?? [])], market);
  const units = Number(ticket?.quantity ?? 1);
  const isPossible = ticket !== undefined && (isAll ? reopening !== undefined : symbol !== '');
  const roll = (event: Event): void => {
    event.preventDefault();
    if (!isPossible) return;
    onClose();
    go(
      hrefOf(broker.simulationId, `trade/${underlying}`, {
        ...ticket,
        limit: netAtMarket(legs, market),
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
              ...(whole === undefined ? [] : [[ALL, `All legs: ${whole.title}`] as const]),
              ...held.map(
                (one) => [one.symbol, `${quantity(one.quantity)} × ${contractText(one.symbol)}`] as const,
              ),
            ]}
            onChange={(next) => {
              setFrom(next);
              setChosen({ expiration: '', symbol: '' });
            }}
          />
        )}
        {isAll ? (
          <p class="dim small">
            An order closes and opens at most one contract each, so that this requires two orders: the first
            closes all legs, the second opens them at the other expiration. The market can move between them.
          </p>
        ) : (
          <p>
            Close {quantity(position.quantity)} × {contractText(from)} and open, by one order:
          </p>
        )}
        <Select
          name="Expiration"
          plain
          value={expiration}
          options={later.map((date) => [date, dateText(date)] as const)}
          onChange={(date) => setChosen({ expiration: date, symbol: '' })}
        />
        {!isAll && (
          <Select
            name="Strike"
            plain
            value={symbol}
            options={contracts.map(
              (one) =>
                [one.optionSymbol, `${price(one.strike)}, ${price(one.bid)} × ${price(one.ask)}`] as const,
            )}
            onChange={(to) => setChosen({ expiration, symbol: to })}
          />
        )}
        {problem !== undefined && <Problem error={errorFrom(problem)} />}
        <p role="status">
          {isAll && chain.value !== undefined && reopening === undefined
            ? 'This expiration does not list all of these strikes. Close the strategy, and choose the new legs in the chain.'
            : net === undefined
              ? 'No net price yet.'
              : `At the market: ${price(Math.abs(net))} ${net < 0 ? 'credit' : 'debit'} a share, ${change(-net * 100 * units)} in all.`}
        </p>
        <button type="submit" class="primary" disabled={!isPossible}>
          {isAll ? 'Put the first order on the ticket' : 'Put on the ticket'}
        </button>
      </form>
    </Dialog>
  );
}

/** The order that closes all legs of a strategy, if they form one and expire together. */
function wholeOf(portfolioId: string, held: readonly Held[]) {
  const ticket = held.length > 1 ? closingTicket(portfolioId, held) : undefined;
  const dates = new Set(held.map(({ symbol }) => optionNamed(symbol)?.expiration));
  if (ticket === undefined || dates.size > 1) return undefined;
  const legs: readonly Leg[] = held.map(({ symbol, quantity: count }) => ({
    optionSymbol: symbol,
    positionIntent: count > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
    quantity: Math.abs(count),
  }));
  return { ticket, title: nameOf(legs)?.title ?? 'strategy' };
}
