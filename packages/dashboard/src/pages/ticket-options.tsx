/** Choosing contracts from the chain: one of them, or the legs of a spread. */
import {
  type Leg,
  type OptionChainContract,
  positionIntents,
  strategies,
  type Strategy,
} from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { price } from '../format.ts';
import { useLoad } from '../load.ts';
import { Select } from '../parts/field.tsx';
import { Payoff } from '../parts/payoff.tsx';
import { Problem } from '../parts/notice.tsx';
import { setQuery } from '../route.ts';
import { contractText, legsOf, optionNamed, textOfLegs } from '../option-legs.ts';
import { strategyOfTicket } from './ticket-body.ts';
import { QuoteStrip } from '../parts/quote-strip.tsx';
import { SymbolField } from '../parts/symbol-field.tsx';

/** Expirations of an underlying, and the chain of one. */
function useChain(underlying: string, expiration: string) {
  const broker = useBroker();
  const expirations = useLoad(
    async () =>
      underlying === ''
        ? []
        : (await broker.call('listOptionExpirations', { params: { underlying } })).expirations,
    [underlying],
  );
  const chosen = expiration === '' ? (expirations.value?.[0] ?? '') : expiration;
  const chain = useLoad(
    async () =>
      underlying === '' || chosen === ''
        ? undefined
        : broker.call('getOptionChain', { params: { underlying }, query: { expiration: chosen } }),
    [underlying, chosen],
  );
  return {
    expirations: expirations.value ?? [],
    chosen,
    chain: chain.value,
    error: expirations.error ?? chain.error,
  };
}

/** One contract. Its symbol is the symbol of the ticket. */
export function OptionChoice({ query }: { readonly query: URLSearchParams }) {
  const symbol = query.get('symbol') ?? '';
  const named = optionNamed(symbol);
  const underlying = named?.underlying ?? symbol;
  const { expirations, chosen, chain, error } = useChain(
    underlying,
    named?.expiration ?? query.get('expiration') ?? '',
  );
  const strikes = chain?.contracts ?? [];
  return (
    <>
      <div class="grid">
        <SymbolField kind="EQUITY" value={underlying} />
        <Select
          name="Expiration"
          plain
          value={chosen}
          options={expirations}
          onChange={(expiration) => setQuery({ expiration, symbol: underlying })}
        />
        <Select
          name="Contract"
          plain
          value={named === undefined ? '' : symbol}
          options={[['', 'choose one'] as const, ...strikes.map(titled)]}
          onChange={(next) => setQuery({ symbol: next === '' ? underlying : next })}
        />
      </div>
      {named !== undefined && (
        <p>
          {named.underlying} {named.expiration} {price(named.strike)} {named.optionType}
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

/** A contract to choose, by what one looks for. */
const titled = ({ optionSymbol, bid, ask }: OptionChainContract): readonly [string, string] => [
  optionSymbol,
  `${contractText(optionSymbol)}, ${price(bid)} × ${price(ask)}`,
];

/** Strikes by their distance from the money: −1 is the one below. */
const SHAPES: Readonly<Record<Strategy, readonly (readonly ['B' | 'S', number, 'CALL' | 'PUT', number])[]>> =
  {
    VERTICAL_SPREAD: [
      ['B', 1, 'CALL', 0],
      ['S', 1, 'CALL', 2],
    ],
    IRON_CONDOR: [
      ['B', 1, 'PUT', -4],
      ['S', 1, 'PUT', -2],
      ['S', 1, 'CALL', 2],
      ['B', 1, 'CALL', 4],
    ],
    BUTTERFLY: [
      ['B', 1, 'CALL', -2],
      ['S', 2, 'CALL', 0],
      ['B', 1, 'CALL', 2],
    ],
    CALENDAR_SPREAD: [
      ['S', 1, 'CALL', 0],
      ['B', 1, 'CALL', 0],
    ],
    STRADDLE: [
      ['B', 1, 'CALL', 0],
      ['B', 1, 'PUT', 0],
    ],
    STRANGLE: [
      ['B', 1, 'PUT', -2],
      ['B', 1, 'CALL', 2],
    ],
  };

/** The legs of a strategy around the money. */
export function legsAround(
  strategy: Strategy,
  contracts: readonly OptionChainContract[],
  at: number,
  later: readonly OptionChainContract[],
): readonly Leg[] {
  return SHAPES[strategy].flatMap(([side, quantity, optionType, distance], index) => {
    const from = strategy === 'CALENDAR_SPREAD' && index === 1 ? later : contracts;
    const listed = from.filter((one) => one.optionType === optionType);
    const nearest = listed.reduce(
      (best, one, place) =>
        Math.abs(one.strike - at) < Math.abs((listed[best]?.strike ?? Infinity) - at) ? place : best,
      0,
    );
    const contract = listed[Math.min(listed.length - 1, Math.max(0, nearest + distance))];
    if (contract === undefined) return [];
    return [
      {
        optionSymbol: contract.optionSymbol,
        positionIntent: side === 'B' ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
        quantity,
      } as const,
    ];
  });
}

/** The legs, and what they are worth at expiry. */
export function SpreadLegs({
  query,
  cost,
}: {
  readonly query: URLSearchParams;
  readonly cost: number | undefined;
}) {
  const broker = useBroker();
  const underlying = query.get('symbol') ?? '';
  const strategy = strategyOfTicket(query);
  const legs = legsOf(query.get('legs') ?? '');
  const { expirations, chosen, chain, error } = useChain(underlying, query.get('expiration') ?? '');
  const laterDay = expirations.find((one) => one > chosen) ?? '';
  const later = useLoad(
    async () =>
      strategy === 'CALENDAR_SPREAD' && laterDay !== ''
        ? (await broker.call('getOptionChain', { params: { underlying }, query: { expiration: laterDay } }))
            .contracts
        : [],
    [strategy, underlying, laterDay],
  );
  const contracts = chain?.contracts ?? [];
  useEffect(() => {
    const at = chain?.underlyingPrice;
    if (at === undefined || later.value === undefined || legs.length > 0) return;
    setQuery({ legs: textOfLegs(legsAround(strategy, contracts, at, later.value)) });
  }, [chain, strategy, later.value, legs.length]);
  const all = new Map([...contracts, ...(later.value ?? [])].map((one) => [one.optionSymbol, one]));
  const middle = legs.reduce((sum, { optionSymbol, positionIntent, quantity }) => {
    const { bid, ask, price: mark = 0 } = all.get(optionSymbol) ?? {};
    const worth = bid === undefined || ask === undefined ? mark : (bid + ask) / 2;
    return sum + (positionIntent.startsWith('B') ? 1 : -1) * quantity * worth;
  }, 0);
  const change = (index: number, leg: Partial<Leg>): void => {
    setQuery({ legs: textOfLegs(legs.map((old, place) => (place === index ? { ...old, ...leg } : old))) });
  };
  return (
    <>
      <div class="grid">
        <SymbolField kind="EQUITY" value={underlying} />
        <Select
          name="Strategy"
          value={strategy}
          options={strategies}
          onChange={(next) => setQuery({ strategy: next, legs: undefined })}
        />
        <Select
          name="Expiration"
          plain
          value={chosen}
          options={expirations}
          onChange={(expiration) => setQuery({ expiration, legs: undefined })}
        />
      </div>
      {error !== undefined && <Problem error={error} />}
      {underlying !== '' && <QuoteStrip symbol={underlying} />}
      {legs.map((leg, index) => {
        const type = optionNamed(leg.optionSymbol)?.optionType;
        const from = optionNamed(leg.optionSymbol)?.expiration === laterDay ? (later.value ?? []) : contracts;
        return (
          <div class="grid legs" key={index} role="group" aria-label={`Leg ${index + 1}`}>
            <Select
              name={`Leg ${index + 1}, ${leg.quantity} per unit`}
              value={leg.positionIntent}
              options={positionIntents}
              onChange={(next) => change(index, { positionIntent: next as Leg['positionIntent'] })}
            />
            <Select
              name={`Contract of leg ${index + 1}`}
              plain
              value={leg.optionSymbol}
              options={
                from.some(({ optionSymbol }) => optionSymbol === leg.optionSymbol)
                  ? from.filter((one) => one.optionType === type).map(titled)
                  : [[leg.optionSymbol, contractText(leg.optionSymbol)] as const]
              }
              onChange={(optionSymbol) => change(index, { optionSymbol })}
            />
          </div>
        );
      })}
      {legs.length > 0 && (
        <p>
          The middle of the market: {price(Math.abs(middle))} {middle < 0 ? 'credit' : 'debit'} a share.
        </p>
      )}
      {legs.length > 0 && (
        <Payoff legs={legs} cost={cost ?? middle} underlyingPrice={chain?.underlyingPrice} />
      )}
    </>
  );
}
