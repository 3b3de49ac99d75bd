/** Profit of a unit over the price of the underlying: a line at expiration, one on another day. */
import { money, price } from '../format.ts';
import { breakevens } from './option-value.ts';

const WIDTH = 340;
const HEIGHT = 170;
/** Labels closer than this are one label. */
const LABEL_PX = 54;

interface CurvePoint {
  readonly at: number;
  readonly value: number;
}

export function PayoffChart({
  atEnd,
  then,
  thenTitle,
  strikes,
  underlyingPrice,
}: {
  readonly atEnd: readonly CurvePoint[];
  readonly then: readonly CurvePoint[];
  readonly thenTitle: string;
  readonly strikes: readonly number[];
  readonly underlyingPrice: number;
}) {
  const low = atEnd[0]?.at ?? 0;
  const high = atEnd.at(-1)?.at ?? 1;
  const values = [...atEnd, ...then].map(({ value }) => value);
  const least = Math.min(...values, 0);
  const most = Math.max(...values, 0);
  const x = (at: number): number => ((at - low) / (high - low)) * WIDTH;
  const y = (value: number): number => HEIGHT - ((value - least) / (most - least || 1)) * HEIGHT;
  const line = (points: readonly CurvePoint[]): string =>
    points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const evens = breakevens(atEnd);
  const here = nearest(then, underlyingPrice);
  // The bounds are on the side away from the current price, whose label has the same height.
  const bounds = x(underlyingPrice) > WIDTH / 2 ? { x: 4, anchor: 'start' } : { x: WIDTH - 4, anchor: 'end' };
  return (
    <figure class="payoff">
      <svg
        viewBox={`0 -14 ${WIDTH} ${HEIGHT + 34}`}
        role="img"
        aria-label={`Profit of a unit at expiration from ${money(least)} to ${money(most)} in the range shown, ${thenTitle} ${money(here)} at ${price(underlyingPrice)}, breakeven ${evens.map((even) => price(Math.round(even * 100) / 100)).join(' and ') || 'none'}`}
      >
        <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} class="zero" />
        {strikes.map((strike) => (
          <line key={strike} x1={x(strike)} x2={x(strike)} y1={0} y2={HEIGHT} class="strike" />
        ))}
        <line x1={x(underlyingPrice)} x2={x(underlyingPrice)} y1={0} y2={HEIGHT} class="now" />
        <polyline points={line(atEnd)} class="value" />
        <polyline points={line(then)} class="then" />
        <text x={bounds.x} y={-3} text-anchor={bounds.anchor}>
          {money(most)}
        </text>
        <text x={bounds.x} y={HEIGHT - 3} text-anchor={bounds.anchor}>
          {money(least)}
        </text>
        <text x={clamp(x(underlyingPrice))} y={-3} text-anchor="middle">
          now {price(underlyingPrice)}
        </text>
        {labelsOf(strikes, x).map(({ at, text }) => (
          <text key={text} x={clamp(at)} y={HEIGHT + 15} text-anchor="middle">
            {text}
          </text>
        ))}
      </svg>
      <figcaption class="dim small">
        <span class="key value">at expiration</span> <span class="key then">{thenTitle}</span> · a unit,
        before charges
      </figcaption>
    </figure>
  );
}

const clamp = (at: number): number => Math.min(WIDTH - 30, Math.max(30, at));

const nearest = (points: readonly CurvePoint[], at: number): number =>
  points.reduce((best, one) => (Math.abs(one.at - at) < Math.abs(best.at - at) ? one : best), {
    at: Infinity,
    value: 0,
  }).value;

/** Strikes with room for their labels; those that would overlap share one. */
export function labelsOf(
  strikes: readonly number[],
  x: (strike: number) => number,
): readonly { readonly at: number; readonly text: string }[] {
  const groups: number[][] = [];
  for (const strike of strikes) {
    const last = groups.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && x(strike) - x(before) < LABEL_PX) last.push(strike);
    else groups.push([strike]);
  }
  return groups.map((group) => ({
    at: group.reduce((sum, strike) => sum + x(strike), 0) / group.length,
    text: group.length > 2 ? `${price(group[0])}–${price(group.at(-1))}` : group.map(price).join(' · '),
  }));
}
