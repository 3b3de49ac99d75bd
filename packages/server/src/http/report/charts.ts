/** Charts of a report as SVG inside the page: no script, no font, no external resource. */
import { type Bin, roundStep } from '@sandpit/analytics';
import { escaped } from './escape.js';

const WIDTH = 960;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 24;
/** More points than this cannot be distinguished. */
const MOST_POINTS = 900;
const TICKS = 4;

interface LinePoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly value: number;
}

interface LineChart {
  /** Description of the chart for screen readers. */
  readonly label: string;
  readonly points: readonly LinePoint[];
  readonly height: number;
  /** `digits` distinguish neighboring ticks. */
  readonly format: (value: number, digits: number) => string;
  /** Factor that turns values into displayed ones. */
  readonly scale?: number;
  /** Class of the line. */
  readonly tone: 'gain' | 'loss' | 'plain';
  /** The value that the area under the line ends at; absent = no area. */
  readonly areaTo?: number;
  /** Shown for any values. */
  readonly include?: number;
}

/** A line over time; a sentence if there are fewer than two points. */
export function lineChart(chart: LineChart): string {
  const points = thinned(chart.points);
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || last.at <= first.at) return empty();
  const { height, format, scale = 1, tone, areaTo, include } = chart;
  const values = points.map(({ value }) => value);
  const marked = include === undefined ? values : [...values, include];
  const { low, high, ticks } = scaleOf(Math.min(...marked), Math.max(...marked));
  const digits = digitsFor(((ticks[1] ?? 1) - (ticks[0] ?? 0)) * scale);
  const bottom = height - BOTTOM;
  const x = (at: number): number => LEFT + ((at - first.at) / (last.at - first.at)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => TOP + ((high - value) / (high - low)) * (bottom - TOP);
  const path = points.map(({ at, value }) => `${short(x(at))},${short(y(value))}`).join('L');
  const floor = areaTo === undefined ? undefined : short(y(Math.min(Math.max(areaTo, low), high)));
  return svg(
    chart.label,
    height,
    ticks
      .map(
        (tick) =>
          `<path class="grid" d="M${LEFT},${short(y(tick))}H${WIDTH - RIGHT}"/><text class="y" x="${LEFT - 8}" y="${short(y(tick) + 4)}">${escaped(format(tick, digits))}</text>`,
      )
      .join('') +
      dates(first.at, last.at)
        .map(
          ({ at, text, anchor }) =>
            `<text class="${anchor}" x="${short(x(at))}" y="${height - 6}">${text}</text>`,
        )
        .join('') +
      (floor === undefined
        ? ''
        : `<path class="area ${tone}" d="M${short(x(first.at))},${floor}L${path}L${short(x(last.at))},${floor}Z"/>`) +
      `<path class="line ${tone}" d="M${path}"/>`,
  );
}

interface BarChart {
  readonly label: string;
  readonly bins: readonly Bin[];
  readonly height: number;
  /** `digits` distinguish neighboring bounds. */
  readonly format: (value: number, digits: number) => string;
  /** Factor that turns values into displayed ones. */
  readonly scale?: number;
  /** True when values below 0 are losses. */
  readonly isSigned: boolean;
}

/** A histogram: the number of values per range. */
export function barChart({ label, bins, height, format, scale = 1, isSigned }: BarChart): string {
  const [first] = bins;
  if (first === undefined) return empty();
  const digits = digitsFor((first.to - first.from) * scale);
  const most = Math.max(...bins.map(({ count }) => count), 1);
  const { high, ticks } = scaleOf(0, most);
  const bottom = height - BOTTOM;
  const step = (WIDTH - LEFT - RIGHT) / bins.length;
  const y = (count: number): number => TOP + ((high - count) / high) * (bottom - TOP);
  const every = Math.ceil(bins.length / 10);
  const bars = bins.map(({ from, to, count }, index) => {
    const tone = !isSigned ? 'plain' : to <= 0 ? 'loss' : 'gain';
    const x = short(LEFT + index * step + 1);
    const name = `${format(from, digits)} to ${format(to, digits)}: ${count}`;
    const text =
      index % every === 0
        ? `<text class="x" x="${short(LEFT + index * step)}" y="${height - 6}">${escaped(format(from, digits))}</text>`
        : '';
    if (count === 0) return text;
    return `<rect class="${tone}" x="${x}" y="${short(y(count))}" width="${short(Math.max(step - 2, 1))}" height="${short(bottom - y(count))}"><title>${escaped(name)}</title></rect>${text}`;
  });
  const grid = ticks
    .filter(Number.isInteger)
    .map(
      (tick) =>
        `<path class="grid" d="M${LEFT},${short(y(tick))}H${WIDTH - RIGHT}"/><text class="y" x="${LEFT - 8}" y="${short(y(tick) + 4)}">${tick}</text>`,
    );
  return svg(label, height, grid.join('') + bars.join(''));
}

const empty = (): string => '<p class="none">Too little history for this chart.</p>';

const svg = (label: string, height: number, inside: string): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(label)}">${inside}</svg>`;

/** Number of decimals that distinguishes neighbors at this distance. */
const digitsFor = (step: number): number => {
  const digits = [0, 1, 2, 3, 4].find(
    (one) => Math.abs(step * 10 ** one - Math.round(step * 10 ** one)) < 1e-6,
  );
  return digits ?? 4;
};

const short = (value: number): number => Math.round(value * 10) / 10;

/** The lowest and highest of each interval, if there are too many points. */
function thinned(points: readonly LinePoint[]): readonly LinePoint[] {
  if (points.length <= MOST_POINTS) return points;
  const size = Math.ceil(points.length / (MOST_POINTS / 2));
  const kept: LinePoint[] = [];
  for (let from = 0; from < points.length; from += size) {
    const stretch = points.slice(from, from + size);
    const least = stretch.reduce((low, point) => (point.value < low.value ? point : low));
    const most = stretch.reduce((high, point) => (point.value > high.value ? point : high));
    kept.push(...(least.at <= most.at ? [least, most] : [most, least]));
  }
  const last = points.at(-1);
  return last === undefined || kept.at(-1) === last ? kept : [...kept, last];
}

/** Round bounds around values, and the round values between them. */
function scaleOf(
  least: number,
  most: number,
): { readonly low: number; readonly high: number; readonly ticks: readonly number[] } {
  const step = roundStep((most - least) / TICKS || Math.abs(most) / TICKS || 1);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.max(Math.ceil(most / step - 1e-9), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

const DATES = 6;

function dates(from: number, to: number): readonly { at: number; text: string; anchor: string }[] {
  return Array.from({ length: DATES }, (_, index) => {
    const at = from + ((to - from) * index) / (DATES - 1);
    const text = new Date(at).toISOString().slice(0, 10);
    return { at, text, anchor: index === 0 ? 'start' : index === DATES - 1 ? 'end' : 'x' };
  }).filter(({ text }, index, all) => all.findIndex((one) => one.text === text) === index);
}
