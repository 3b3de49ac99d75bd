import type { Point } from '../chart-data.ts';

const WIDTH = 120;
const HEIGHT = 32;

/** A small line without an axis: its color shows if it ends above its start. */
export function Sparkline({
  points,
  label,
  height = HEIGHT,
}: {
  readonly points: readonly Point[];
  readonly label: string;
  readonly height?: number;
}) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return <span class="sparkline empty" />;
  const values = points.map(({ value }) => value);
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  const span = last.atMs - first.atMs || 1;
  const line = points
    .map(({ atMs, value }) => {
      const x = ((atMs - first.atMs) / span) * WIDTH;
      const y = range === 0 ? height / 2 : height - 2 - ((value - least) / range) * (height - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
  return (
    <svg
      class={`sparkline ${last.value > first.value ? 'up' : last.value < first.value ? 'down' : 'dim'}`}
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,${height} ${line} ${WIDTH},${height}`} />
      <polyline points={line} />
    </svg>
  );
}
