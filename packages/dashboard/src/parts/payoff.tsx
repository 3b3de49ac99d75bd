/** What a spread is worth at its expiry, over the price of the underlying. */
import type { Leg } from '@sandpit/protocol';
import { money, price } from '../format.ts';
import { optionNamed } from '../option-legs.ts';

const WIDTH = 420;
const HEIGHT = 170;
const STEPS = 120;
/** Shares of a contract. */
const MULTIPLIER = 100;

/** Dollars per unit at an underlying price, paid for with `cost` a share. */
export function payoffAt(legs: readonly Leg[], cost: number, at: number): number {
  const worth = legs.reduce((sum, { optionSymbol, positionIntent, quantity }) => {
    const option = optionNamed(optionSymbol);
    if (option === undefined) return sum;
    const inside = option.optionType === 'CALL' ? at - option.strike : option.strike - at;
    return sum + (positionIntent.startsWith('B') ? 1 : -1) * quantity * Math.max(0, inside);
  }, 0);
  return (worth - cost) * MULTIPLIER;
}

/** Where a line of straight parts crosses nothing. */
function evenAt(points: readonly { readonly at: number; readonly value: number }[]): readonly number[] {
  return points.flatMap(({ at, value }, index) => {
    const next = points[index + 1];
    if (next === undefined || value * next.value >= 0) return [];
    return [at + ((next.at - at) * value) / (value - next.value)];
  });
}

export function Payoff({
  legs,
  cost,
  underlyingPrice,
}: {
  readonly legs: readonly Leg[];
  /** Dollars per share. */
  readonly cost: number;
  readonly underlyingPrice: number | undefined;
}) {
  const options = legs
    .map(({ optionSymbol }) => optionNamed(optionSymbol))
    .filter((one) => one !== undefined);
  const strikes = options.map(({ strike }) => strike);
  if (strikes.length === 0) return null;
  if (new Set(options.map(({ expiration }) => expiration)).size > 1)
    return (
      <p class="dim">The value at the first expiry depends on the value of the later leg at that time.</p>
    );
  const low = Math.min(...strikes) * 0.9;
  const high = Math.max(...strikes) * 1.1;
  const points = Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = low + ((high - low) * step) / STEPS;
    return { at, value: payoffAt(legs, cost, at) };
  });
  const values = points.map(({ value }) => value);
  const evens = evenAt(points);
  const least = Math.min(...values, 0);
  const most = Math.max(...values, 0);
  const x = (at: number): number => ((at - low) / (high - low)) * WIDTH;
  const y = (value: number): number => HEIGHT - ((value - least) / (most - least || 1)) * HEIGHT;
  const line = points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <figure class="payoff">
      <svg
        viewBox={`0 -6 ${WIDTH} ${HEIGHT + 24}`}
        role="img"
        aria-label={`Profit at expiry from ${money(least)} to ${money(most)} a unit, strikes ${strikes.map(price).join(', ')}`}
      >
        <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} class="zero" />
        <text x={4} y={y(most) + 12}>
          {money(most)}
        </text>
        <text x={4} y={y(least) - 4}>
          {money(least)}
        </text>
        {underlyingPrice !== undefined && underlyingPrice > low && underlyingPrice < high && (
          <g>
            <line x1={x(underlyingPrice)} x2={x(underlyingPrice)} y1={0} y2={HEIGHT} class="now" />
            <text x={x(underlyingPrice) + 4} y={HEIGHT / 2}>
              now {price(underlyingPrice)}
            </text>
          </g>
        )}
        {[...new Set(strikes)].map((strike) => (
          <g key={strike}>
            <line x1={x(strike)} x2={x(strike)} y1={0} y2={HEIGHT} class="strike" />
            <text x={x(strike)} y={HEIGHT + 14} text-anchor="middle">
              {price(strike)}
            </text>
          </g>
        ))}
        <polyline points={line} class="value" />
      </svg>
      <figcaption class="dim small">
        At expiry, per unit, before charges: maximum loss {money(least)}, at best {money(most)} within the
        strikes ± 10 %{evens.length > 0 && `; even at ${evens.map(price).join(' and ')}`}.
      </figcaption>
    </figure>
  );
}
