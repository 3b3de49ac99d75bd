/** Rolling a contract: choose the one that replaces it, and trade both by one order. */
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, price, quantity } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { contractText, optionNamed } from '../option-legs.ts';
import { Select } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { Dialog } from '../ui/dialog.tsx';
import { type Held, rollingTicket } from './strategy.ts';

export function RollDialog({
  portfolioId,
  held,
  onClose,
}: {
  readonly portfolioId: string;
  /** Contracts that can be rolled: of a strategy one leg after the other. */
  readonly held: readonly Held[];
  readonly onClose: () => void;
}) {
  const broker = useBroker();
  const [from, setFrom] = useState(held[0]?.symbol ?? '');
  const [chosen, setChosen] = useState({ expiration: '', symbol: '' });
  const option = optionNamed(from);
  const position = held.find(({ symbol }) => symbol === from);
  const underlying = option?.underlying ?? '';
  const expirations = useLoad(
    async () => (await broker.call('listOptionExpirations', { params: { underlying } })).expirations,
    [underlying],
  );
  const later = (expirations.value ?? []).filter((date) => date >= (option?.expiration ?? ''));
  const expiration =
    chosen.expiration !== ''
      ? chosen.expiration
      : (later.find((date) => date > (option?.expiration ?? '')) ?? later[0] ?? '');
  const chain = useLoad(
    async () =>
      expiration === ''
        ? undefined
        : broker.call('getOptionChain', { params: { underlying }, query: { expiration } }),
    [underlying, expiration],
  );
  const own = useLoad(
    async () =>
      option === undefined
        ? undefined
        : (
            await broker.call('getOptionChain', {
              params: { underlying },
              query: { expiration: option.expiration },
            })
          ).contracts.find(({ optionSymbol }) => optionSymbol === from),
    [from],
  );
  const contracts = (chain.value?.contracts ?? []).filter(
    ({ optionType, optionSymbol }) => optionType === option?.optionType && optionSymbol !== from,
  );
  const symbol =
    contracts.find(({ optionSymbol }) => optionSymbol === chosen.symbol)?.optionSymbol ??
    contracts.find(({ strike }) => strike === option?.strike)?.optionSymbol ??
    contracts[0]?.optionSymbol ??
    '';
  const next = contracts.find(({ optionSymbol }) => optionSymbol === symbol);
  const isLong = (position?.quantity ?? 0) > 0;
  // A long contract is sold at the bid, and the next one bought at the ask; a short one the other way round.
  const net = isLong ? sum(next?.ask, own.value?.bid) : sum(own.value?.ask, next?.bid);
  const roll = (event: Event): void => {
    event.preventDefault();
    const ticket = position === undefined ? undefined : rollingTicket(portfolioId, position, symbol);
    if (ticket === undefined) return;
    onClose();
    go(hrefOf(broker.simulationId, `trade/${underlying}`, { ...ticket, limit: net, show: 'options' }));
  };
  return (
    <Dialog title={`Roll ${underlying}`} onClose={onClose}>
      <form class="stack" onSubmit={roll}>
        {held.length > 1 && (
          <Select
            name="Contract to close"
            plain
            value={from}
            options={held.map(
              (one) => [one.symbol, `${quantity(one.quantity)} × ${contractText(one.symbol)}`] as const,
            )}
            onChange={(next) => {
              setFrom(next);
              setChosen({ expiration: '', symbol: '' });
            }}
          />
        )}
        {held.length > 1 && (
          <p class="dim small">
            An order rolls one leg: it closes one contract and opens another. Roll the other legs next, or
            close the strategy by one order and build the new one in the tray.
          </p>
        )}
        {held.length === 1 && (
          <p>
            Close {quantity(position?.quantity)} × {contractText(from)} and open:
          </p>
        )}
        <Select
          name="Expiration"
          plain
          value={expiration}
          options={later.map((date) => [date, dateText(date)] as const)}
          onChange={(date) => setChosen({ expiration: date, symbol: '' })}
        />
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
        {(expirations.error ?? chain.error) !== undefined && (
          <Problem error={errorFrom(expirations.error ?? chain.error)} />
        )}
        <p role="status">
          {net === undefined
            ? 'No net price yet.'
            : `At the market: ${price(Math.abs(net))} ${net < 0 ? 'credit' : 'debit'} a share, ${change(-net * 100 * Math.abs(position?.quantity ?? 0))} in all.`}
        </p>
        <button type="submit" class="primary" disabled={symbol === ''}>
          Put on the ticket
        </button>
      </form>
    </Dialog>
  );
}

const sum = (paid: number | undefined, received: number | undefined): number | undefined =>
  paid === undefined || received === undefined ? undefined : Math.round((paid - received) * 100) / 100;
