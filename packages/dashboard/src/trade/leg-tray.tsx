/** The selected legs: their net, Greeks, margin, and their value at each price and day. */
import type { Leg, OptionChainContract } from '@sandpit/protocol';
import { X } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, greek, money, numberTyped, percent, price, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { contractText, optionNamed, textOfLegs } from '../option-legs.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Figure } from '../parts/figure.tsx';
import { Slider } from '../ui/slider.tsx';
import { netText } from './net-price.ts';
import { breakevens, expirationMs, probabilityOfProfit, profitAt, valuedLegs } from './option-value.ts';
import { PayoffChart } from './payoff-chart.tsx';
import type { PreviewState } from './preview.tsx';
import { headingOf, nameOf } from '../strategy.ts';
import { Term } from '../why/term.tsx';
import { marketOf, setLegs } from './tray-legs.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/** Points of a curve. */
const STEPS = 160;

export function LegTray({
  legs,
  query,
  contracts,
  underlyingPrice,
  preview,
}: {
  readonly legs: readonly Leg[];
  readonly query: URLSearchParams;
  readonly contracts: ReadonlyMap<string, OptionChainContract>;
  readonly underlyingPrice: number | undefined;
  readonly preview: PreviewState;
}) {
  if (legs.length === 0)
    return (
      <p class="notice dim">
        Click a bid to sell, an ask to buy. Legs are collected here with their net price, Greeks and payoff.
      </p>
    );
  const named = nameOf(legs);
  const net = marketOf(legs, contracts);
  const sum = (of: (one: OptionChainContract) => number | undefined): number =>
    legs.reduce((total, { optionSymbol, positionIntent, quantity }) => {
      const contract = contracts.get(optionSymbol);
      const value = contract === undefined ? undefined : of(contract);
      return total + (positionIntent.startsWith('B') ? 1 : -1) * quantity * (value ?? 0);
    }, 0);
  const margin = preview.preview?.initialMargin;
  return (
    <section class="tray" aria-label="Strategy">
      <h2>
        {headingOf(legs)}
        {named === undefined && <small class="down"> no legs that one order can place</small>}
      </h2>
      <ul class="plain">
        {legs.map((leg) => (
          <li key={leg.optionSymbol} class="row nowrap">
            <span class={leg.positionIntent.startsWith('B') ? 'buy' : 'sell'}>
              {words(leg.positionIntent)} {leg.quantity} × {contractText(leg.optionSymbol)}
            </span>
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${contractText(leg.optionSymbol)}`}
              onClick={() =>
                setLegs(
                  legs.filter((one) => one !== leg),
                  query,
                  contracts,
                )
              }
            >
              <X size={14} aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
      {legs.some(({ positionIntent }) => positionIntent === 'SELL_TO_OPEN') && (
        <p class="dim small">
          A sold option can end in <Term name="assignment">assignment</Term>.
        </p>
      )}
      {underlyingPrice !== undefined && (
        <Outlook
          key={textOfLegs(legs)}
          legs={legs}
          cost={costOf(query, legs) ?? net.middle ?? net.ask ?? 0}
          underlyingPrice={underlyingPrice}
          contracts={contracts}
        />
      )}
      <dl class="figures wide">
        <Figure name="At the market">{netText(net.ask)}</Figure>
        <Figure name="Middle">{netText(net.middle)}</Figure>
        <Figure name="Δ" term="delta">
          {greek(sum(({ delta }) => delta))}
        </Figure>
        <Figure name="Γ" term="gamma">
          {greek(sum(({ gamma }) => gamma))}
        </Figure>
        <Figure name="Θ a day" term="theta">
          {greek(sum(({ theta }) => theta))}
        </Figure>
        <Figure name="Vega" term="vega">
          {greek(sum(({ vega }) => vega))}
        </Figure>
        <Figure name="Margin">{margin === undefined ? '–' : change(margin.after - margin.before)}</Figure>
      </dl>
    </section>
  );
}

/** Price of one unit per share at the ticket's limit; undefined without a limit. */
function costOf(query: URLSearchParams, legs: readonly Leg[]): number | undefined {
  const limit = numberTyped(query.get('limit') ?? '') ?? 0;
  if (query.get('type') !== 'LIMIT' || !Number.isFinite(limit) || limit === 0) return undefined;
  const [only] = legs;
  if (legs.length > 1 || only === undefined) return limit;
  return (only.positionIntent.startsWith('B') ? 1 : -1) * limit * only.quantity;
}

/** Profit by price of the underlying, at expiration and on a day before it. */
function Outlook({
  legs,
  cost,
  underlyingPrice,
  contracts,
}: {
  readonly legs: readonly Leg[];
  readonly cost: number;
  readonly underlyingPrice: number;
  readonly contracts: ReadonlyMap<string, OptionChainContract>;
}) {
  const broker = useBroker();
  const hours = useLoad(() => broker.call('getMarketHours'), []);
  useClockMoves(hours.reload);
  const [daysOn, setDaysOn] = useState(0);
  const [shift, setShift] = useState(0);
  if (hours.value === undefined) return <p class="waiting">…</p>;
  const nowMs = Date.parse(hours.value.now);
  const options = legs
    .map(({ optionSymbol }) => optionNamed(optionSymbol))
    .filter((one) => one !== undefined);
  const strikes = [...new Set(options.map(({ strike }) => strike))].sort((a, b) => a - b);
  const firstMs = Math.min(...options.map(({ expiration }) => expirationMs(expiration)));
  const days = Math.max(0, Math.ceil((firstMs - nowMs) / DAY_MS));
  const own = valuedLegs(
    legs,
    underlyingPrice,
    nowMs,
    (symbol) => {
      const { bid, ask, price: mark } = contracts.get(symbol) ?? {};
      return bid === undefined || ask === undefined ? mark : (bid + ask) / 2;
    },
    (symbol) => contracts.get(symbol)?.impliedVolatility,
  );
  const years = Math.max(0, firstMs - nowMs) / YEAR_MS;
  const volatility = own.reduce((sum, leg) => sum + leg.volatility, 0) / Math.max(1, own.length);
  const reach = Math.max(0.06, 2.5 * volatility * Math.sqrt(years));
  const low = Math.min(strikes[0] ?? underlyingPrice, underlyingPrice) * (1 - reach);
  const high = Math.max(strikes.at(-1) ?? underlyingPrice, underlyingPrice) * (1 + reach);
  const curve = (atMs: number, factor: number) =>
    Array.from({ length: STEPS + 1 }, (_, step) => {
      const at = low + ((high - low) * step) / STEPS;
      return { at, value: profitAt(own, cost, at, atMs, factor) };
    });
  const atEnd = curve(firstMs, 1);
  const then = curve(Math.min(firstMs, nowMs + daysOn * DAY_MS), 1 + shift / 100);
  const evens = breakevens(atEnd);
  const chance = probabilityOfProfit(atEnd, underlyingPrice, volatility, years);
  const extremes = extremesOf(own, cost, strikes, firstMs, high);
  return (
    <>
      <PayoffChart
        atEnd={atEnd}
        then={then}
        thenTitle={daysOn === 0 ? 'today' : `in ${daysOn} ${daysOn === 1 ? 'day' : 'days'}`}
        strikes={strikes}
        underlyingPrice={underlyingPrice}
      />
      <dl class="figures wide">
        <Figure name="Maximum gain">{extremes.gain}</Figure>
        <Figure name="Maximum loss">{extremes.loss}</Figure>
        <Figure name={evens.length === 1 ? 'Breakeven' : 'Breakevens'} term="breakeven">
          {evens.length === 0 ? 'none' : evens.map(price2).join(', ')}
        </Figure>
        <Figure name="Probability of profit" note="from the chain’s volatility">
          {chance === undefined ? '–' : percent(chance)}
        </Figure>
      </dl>
      <div class="pair">
        <Slider
          name="Days from now"
          value={Math.min(daysOn, days)}
          min={0}
          max={Math.max(1, days)}
          text={(value) => (value === 0 ? 'today' : `${value} of ${days}`)}
          onChange={setDaysOn}
        />
        <Slider
          name="Volatility"
          value={shift}
          min={-50}
          max={100}
          step={5}
          text={(value) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value)}%`}
          onChange={setShift}
        />
      </div>
    </>
  );
}

const price2 = (value: number): string => price(Math.round(value * 100) / 100);

/** Most and least at expiration: at a strike, at zero, or without bound above. */
function extremesOf(
  legs: ReturnType<typeof valuedLegs>,
  cost: number,
  strikes: readonly number[],
  atMs: number,
  high: number,
): { readonly gain: string; readonly loss: string } {
  const values = [0.01, ...strikes, high].map((at) => profitAt(legs, cost, at, atMs));
  const calls = legs.reduce((sum, { isCall, count }) => sum + (isCall ? count : 0), 0);
  return {
    gain: calls > 0 ? 'unlimited' : money(Math.max(...values)),
    loss: calls < 0 ? 'unlimited' : money(Math.min(...values)),
  };
}
