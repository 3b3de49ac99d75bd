/** The option chain as a strategy builder: a bid sells, an ask buys, and the legs gather in the tray below. */
import type { Leg, OptionChainContract, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import { useBroker } from '../broker.ts';
import { dateText, daysBetween, daysText, delta, percent, price, quantity } from '../format.ts';
import { legsOf } from '../option-legs.ts';
import { Select } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { Title } from '../parts/title.tsx';
import { setQuery } from '../route.ts';
import type { TermName } from '../why/terms.ts';
import { aroundTheMoney, type ChainRow, type Chains, legsAround, type Template, useChains } from './chain.ts';
import { LegTray } from './leg-tray.tsx';
import type { PreviewState } from './preview.tsx';
import { unitsOf } from '../strategy.ts';
import { setLegs, withLeg } from './tray-legs.ts';

interface OptionPanelProps {
  readonly underlying: string;
  readonly query: URLSearchParams;
  readonly portfolio: PortfolioUpdate | undefined;
  readonly preview: PreviewState;
}

export function OptionPanel({ underlying, query, portfolio, preview }: OptionPanelProps) {
  const legs = legsOf(query.get('legs') ?? '');
  const chains = useChains(underlying, query.get('expiration') ?? '', legs);
  const { chain, chosen, expirations, today, contracts, error } = chains;
  const rows = useMemo(() => (chain === undefined ? [] : aroundTheMoney(chain)), [chain]);
  const columns = useMemo(() => columnsIn(rows), [rows]);
  const box = useToTheMoney(underlying, chosen, rows, chain?.underlyingPrice);
  if (error !== undefined) return <Problem error={error} />;
  if (expirations.length === 0 && chain === undefined)
    return <p class="notice">No options on {underlying} yet: the chain needs a quote of the underlying.</p>;
  const heldOf = (symbol: string): number =>
    portfolio?.options.find(({ optionSymbol }) => optionSymbol === symbol)?.quantity ?? 0;
  const choose = (contract: OptionChainContract, side: 'BUY' | 'SELL'): void =>
    setLegs(withLeg(legs, contract.optionSymbol, side, heldOf(contract.optionSymbol)), query, contracts);
  return (
    <section aria-label="Options" class="option-panel">
      <div class="pair">
        <Select
          name="Expiration"
          plain
          value={chosen}
          options={expirations.map(
            (date) =>
              [
                date,
                today === undefined
                  ? dateText(date)
                  : `${dateText(date)} · ${daysText(daysBetween(today, date))}`,
              ] as const,
          )}
          onChange={(expiration) => setQuery({ expiration })}
        />
        {chain !== undefined && <Templates chains={chains} query={query} />}
      </div>
      <div class="chain-and-payoff">
        {chain === undefined ? (
          <p class="waiting">Loading …</p>
        ) : (
          <div>
            <p class="row small dim chain-sides" aria-hidden="true">
              <span>Calls</span>
              <span class="push" />
              <span>Puts</span>
            </p>
            <div class="table-box dense chain" tabIndex={0} role="region" aria-label="Option chain" ref={box}>
              <table>
                <thead>
                  <tr>
                    <Heads side="Call" columns={columns} />
                    <th scope="col" class="number">
                      Strike
                    </th>
                    <Heads side="Put" columns={columns} />
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <Strike
                      key={row.strike}
                      row={row}
                      at={chain.underlyingPrice}
                      legs={legs}
                      columns={columns}
                      choose={choose}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          </div>
        )}
        <LegTray
          legs={legs}
          query={query}
          contracts={contracts}
          underlyingPrice={chain?.underlyingPrice}
          preview={preview}
        />
      </div>
    </section>
  );
}

/** The box of a chain, scrolled once to the strikes around the money for each underlying and expiration. */
function useToTheMoney(
  underlying: string,
  expiration: string,
  rows: readonly ChainRow[],
  at = Number.NaN,
): RefObject<HTMLDivElement> {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef('');
  useEffect(() => {
    const key = `${underlying} ${expiration}`;
    const strikes = box.current?.querySelectorAll<HTMLElement>('tbody tr');
    const row = strikes?.[rows.findIndex(({ strike }) => strike >= at)];
    if (box.current === null || row === undefined || shown.current === key) return;
    shown.current = key;
    box.current.scrollTop = row.offsetTop - (box.current.clientHeight - row.offsetHeight) / 2;
  }, [underlying, expiration, rows, at]);
  return box;
}

interface Column {
  readonly title: string;
  /** The explanation of the title. */
  readonly term: TermName;
  readonly meaning: string;
  /** Class of its cells. `wide` columns are left out on narrow screens. */
  readonly width: string;
  readonly text: (contract: OptionChainContract | undefined) => string;
  /** Figure of a contract, for a column that is left out where no contract has it. */
  readonly figure?: (contract: OptionChainContract) => number | undefined;
}

/** Columns of calls in front of bid and ask, from the outside. Those of puts are reversed, behind bid and ask. */
const COLUMNS: readonly Column[] = [
  {
    title: 'OI',
    term: 'openInterest',
    meaning: 'open interest',
    width: 'secondary',
    text: (one) => quantity(one?.openInterest),
    figure: ({ openInterest }) => openInterest,
  },
  {
    title: 'Vol',
    term: 'volume',
    meaning: 'volume of the session',
    width: 'secondary',
    text: (one) => quantity(one?.volume),
    figure: ({ volume }) => volume,
  },
  {
    title: 'IV',
    term: 'impliedVolatility',
    meaning: 'implied volatility',
    width: 'wide',
    text: (one) => (one?.impliedVolatility === undefined ? '–' : percent(one.impliedVolatility)),
  },
  { title: 'Δ', term: 'delta', meaning: 'delta', width: 'wide', text: (one) => delta(one?.delta) },
];

/** The columns of a chain: volume and open interest where a contract has them. */
function columnsIn(rows: readonly ChainRow[]): readonly Column[] {
  return COLUMNS.filter(
    ({ figure }) =>
      figure === undefined ||
      rows.some(({ call, put }) => [call, put].some((one) => one !== undefined && figure(one) !== undefined)),
  );
}

const OFFERS = (['Bid', 'Ask'] as const).map((title) => ({
  title,
  term: undefined,
  meaning: title.toLowerCase(),
  width: '',
}));

const Heads = ({ side, columns }: { readonly side: 'Call' | 'Put'; readonly columns: readonly Column[] }) => (
  <>
    {(side === 'Call' ? [...columns, ...OFFERS] : [...OFFERS, ...columns.toReversed()]).map(
      ({ title, term, width, meaning }) => (
        <th key={title} scope="col" class={`number ${width}`} aria-label={`${side} ${meaning}`}>
          <Title column={{ title, term }} />
        </th>
      ),
    )}
  </>
);

function Strike({
  row: { strike, call, put },
  at = Number.NaN,
  legs,
  columns,
  choose,
}: {
  readonly row: ChainRow;
  readonly at: number | undefined;
  readonly legs: readonly Leg[];
  readonly columns: readonly Column[];
  readonly choose: (contract: OptionChainContract, side: 'BUY' | 'SELL') => void;
}) {
  const inTray = (contract: OptionChainContract | undefined, side: string): boolean =>
    legs.some((leg) => leg.optionSymbol === contract?.optionSymbol && leg.positionIntent.startsWith(side));
  const offer = (contract: OptionChainContract | undefined, side: 'BUY' | 'SELL', isInside: boolean) => {
    const value = side === 'BUY' ? contract?.ask : contract?.bid;
    return (
      <td class={isInside ? 'number inside' : 'number'}>
        {contract === undefined || value === undefined ? (
          '–'
        ) : (
          <button
            type="button"
            class={side === 'BUY' ? 'offer ask' : 'offer bid'}
            aria-pressed={inTray(contract, side)}
            aria-label={`${side === 'BUY' ? 'Buy' : 'Sell'} ${price(strike)} ${contract.optionType.toLowerCase()} at ${price(value)}`}
            onClick={() => choose(contract, side)}
          >
            {price(value)}
          </button>
        )}
      </td>
    );
  };
  const figures = (contract: OptionChainContract | undefined, shown: readonly Column[]) =>
    shown.map(({ title, width, text }) => (
      <td key={title} class={`number ${width}`}>
        {text(contract)}
      </td>
    ));
  return (
    <tr>
      {figures(call, columns)}
      {offer(call, 'SELL', strike < at)}
      {offer(call, 'BUY', strike < at)}
      <th scope="row" class="number">
        {price(strike)}
      </th>
      {offer(put, 'SELL', strike > at)}
      {offer(put, 'BUY', strike > at)}
      {figures(put, columns.toReversed())}
    </tr>
  );
}

/** Fills the tray with a strategy around the money. */
const TEMPLATES: Readonly<Record<Template, string>> = {
  VERTICAL_SPREAD: 'Bull call spread',
  IRON_CONDOR: 'Iron condor',
  BUTTERFLY: 'Call butterfly',
  CALENDAR_SPREAD: 'Call calendar spread',
  STRADDLE: 'Straddle',
  STRANGLE: 'Strangle',
};

function Templates({ chains, query }: { readonly chains: Chains; readonly query: URLSearchParams }) {
  const broker = useBroker();
  const { chain, chosen, expirations, contracts } = chains;
  const fill = async (strategy: Template): Promise<void> => {
    if (chain?.underlyingPrice === undefined) return;
    const next = expirations.find((date) => date > chosen);
    const later =
      strategy === 'CALENDAR_SPREAD' && next !== undefined
        ? (
            await broker.call('getOptionChain', {
              params: { underlying: chain.underlying },
              query: { expiration: next },
            })
          ).contracts
        : [];
    const all = new Map([...contracts, ...later.map((one) => [one.optionSymbol, one] as const)]);
    const legs = legsAround(strategy, chain.contracts, chain.underlyingPrice, later);
    if (unitsOf(legs) > 0) setLegs(legs, query, all);
  };
  return (
    <Select
      name="Start with"
      plain
      value=""
      options={[['', 'Choose a strategy …'], ...Object.entries(TEMPLATES)]}
      onChange={(strategy) => {
        if (strategy !== '') void fill(strategy as Template).catch(() => undefined);
      }}
    />
  );
}
