/** Draws charts with the chart library, in the colors of the page. */
import {
  BaselineSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineSeries,
  LineStyle,
  type SeriesMarker,
  TickMarkType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { colorOf } from './color-of.ts';
import { asIfInNewYork, percentChange, price } from '../format.ts';
import type { Line, Mark, Point } from '../chart-data.ts';
import { fillersOf } from './chart-scale.ts';

type Kind = 'Line' | 'Baseline';

/** Fraction of the drawing that stays free at each end. */
const MARGIN = 0.015;
/** Half the width of a date on the axis, which would be cut off at the left edge. */
const HALF_LABEL_PX = 24;
/** Half the width of a label next to a dot, as a fraction of the drawing. A label is shown only if it fits. */
const LABEL = 0.09;
/** Height of the lower pane. */
const PANE_PX = 90;
const DOLLARS = { type: 'custom', formatter: price, minMove: 0.01 } as const;
const FRACTIONS = { type: 'custom', formatter: percentChange, minMove: 0.0001 } as const;
/** Colors of the lines, in order. Neighbors differ in brightness. Further lines repeat the colors, dashed. */
const COLORS = ['--accent', '--warm', '--violet', '--teal', '--down', '--dim'] as const;

export class Drawing {
  readonly #chart: IChartApi;
  readonly #element: HTMLElement;
  #series: ISeriesApi<Kind>[] = [];
  #marks: ISeriesMarkersPluginApi<Time> | undefined;
  /** Last input of `#mark`: a theme draws it again in its colors. */
  #marked: readonly [marks: readonly Mark[], times: readonly number[]] = [[], []];
  #shape = '';
  #isRemoved = false;
  /** The user zoomed or scrolled: the visible range stays until the clock jumps. */
  #isMoved = false;
  /** Last input of `lines`. */
  #drawn = '';
  /** Instants that are drawn. */
  #count = 0;
  /** Width of the longest name of a line. */
  #namesPx = 0;
  /** Shows the whole range again in a box of another width. */
  readonly #resized = new ResizeObserver(() => {
    if (!this.#isMoved && this.#count > 0) this.#showAll(this.#count);
  });
  readonly #onTheme = (): void => {
    this.#paint();
    this.#mark(...this.#marked);
  };
  readonly #system = matchMedia('(prefers-color-scheme: dark)');

  constructor(element: HTMLElement) {
    this.#element = element;
    this.#chart = createChart(element, {
      autoSize: true,
      // Its notice is in the page and in NOTICE; the logo would need its own style, which the policy forbids.
      layout: { attributionLogo: false, fontFamily: getComputedStyle(element).fontFamily },
      timeScale: {
        borderVisible: false,
        timeVisible: true,
        tickMarkFormatter: tickOf,
        // An axis to scale has more instants than pixels.
        minBarSpacing: 0.05,
      },
      rightPriceScale: { borderVisible: false },
      handleScroll: { vertTouchDrag: false },
      localization: {
        locale: 'en-US',
        timeFormatter: momentOf,
      },
    });
    this.#paint();
    this.#chart.timeScale().subscribeVisibleTimeRangeChange((range) => {
      element.dataset.shown = range === null ? '' : `${momentOf(range.from)} to ${momentOf(range.to)}`;
    });
    const moved = ({ type, buttons }: MouseEvent): void => {
      if (type === 'wheel' || buttons > 0) this.#isMoved = true;
    };
    this.#resized.observe(element);
    element.addEventListener('wheel', moved, { passive: true });
    element.addEventListener('pointermove', moved);
    addEventListener('theme', this.#onTheme);
    this.#system.addEventListener('change', this.#onTheme);
  }

  remove(): void {
    this.#isRemoved = true;
    this.#resized.disconnect();
    removeEventListener('theme', this.#onTheme);
    this.#system.removeEventListener('change', this.#onTheme);
    this.#chart.remove();
  }

  /** The chart as a picture, on the color of its panel. */
  picture(): HTMLCanvasElement {
    const shot = this.#chart.takeScreenshot();
    const canvas = document.createElement('canvas');
    canvas.width = shot.width;
    canvas.height = shot.height;
    const context = canvas.getContext('2d');
    if (context !== null) {
      context.fillStyle = this.#color('--panel');
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(shot, 0, 0);
    }
    return canvas;
  }

  /** Shows the whole range at the next drawing, which has another stretch of time. */
  refit(): void {
    this.#isMoved = false;
    this.#drawn = '';
  }

  /** `below` is drawn in a separate pane. Existing drawings are unchanged. */
  lines(lines: readonly Line[], marks: readonly Mark[], below?: Line, isFraction = false): void {
    const key = JSON.stringify([lines, marks, below]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const isNew = this.#begin(`lines ${lines.length} ${below === undefined ? '' : 'below'}`, () => [
      ...lines.map((line, index) =>
        this.#chart.addSeries(LineSeries, {
          color: this.#color(COLORS[index % COLORS.length] ?? '--accent'),
          lineWidth: 2,
          lineStyle: index < COLORS.length ? LineStyle.Solid : LineStyle.Dashed,
          priceLineVisible: false,
          ...(lines.length > 1 && { title: titleOf(line.name) }),
          priceFormat: isFraction ? FRACTIONS : DOLLARS,
        }),
      ),
      ...(below === undefined ? [] : [this.#pane()]),
      // Without values: it keeps the time axis to scale.
      this.#chart.addSeries(LineSeries, { priceLineVisible: false, lastValueVisible: false }),
    ]);
    lines.forEach(({ points }, index) => this.#series[index]?.setData(seconds(points)));
    if (below !== undefined) this.#series[lines.length]?.setData(seconds(below.points));
    const times = [
      ...new Set(lines.flatMap(({ points }) => points.map(({ atMs }) => Number(second(atMs))))),
    ].sort((a, b) => a - b);
    const known = new Set(times);
    const fillers = [...new Set(fillersOf(times).map((time) => Math.round(time) as UTCTimestamp))].filter(
      (time) => !known.has(time),
    );
    this.#series.at(-1)?.setData(fillers.map((time) => ({ time })));
    this.#mark(marks, lines[0]?.points.map(({ atMs }) => atMs) ?? []);
    this.#paint();
    if (isNew) this.#isMoved = false;
    this.#namesPx =
      lines.length > 1 ? Math.max(...lines.map(({ name }) => titleOf(name).length)) * CHARACTER_PX : 0;
    this.#count = times.length + fillers.length;
    if (!this.#isMoved) this.#showAll(this.#count);
  }

  /** Shows the whole range, with space for the dots at both ends and the names of the lines, once the scale has its width. */
  #showAll(count: number): void {
    requestAnimationFrame(() => {
      if (this.#isRemoved) return;
      const scale = this.#chart.timeScale();
      const margin = Math.max(0.5, count * MARGIN);
      const names = Math.min(this.#namesPx, scale.width() * MOST_NAMES);
      const free = (count * names) / Math.max(1, scale.width() - names);
      const label = (count * HALF_LABEL_PX) / Math.max(1, scale.width());
      scale.setVisibleLogicalRange({ from: -Math.max(margin, label), to: count - 1 + margin + free });
    });
  }

  /** A pane of fractions below the first. */
  #pane(): ISeriesApi<'Baseline'> {
    const series = this.#chart.addSeries(
      BaselineSeries,
      {
        baseValue: { type: 'price', price: 0 },
        lineWidth: 1,
        priceLineVisible: false,
        lastValueVisible: false,
        priceFormat: FRACTIONS,
      },
      1,
    );
    this.#chart.panes()[1]?.setHeight(PANE_PX);
    return series;
  }

  #begin(shape: string, make: () => ISeriesApi<Kind>[]): boolean {
    if (shape === this.#shape) return false;
    for (const series of this.#series) this.#chart.removeSeries(series);
    this.#marks = undefined;
    this.#series = make();
    this.#shape = shape;
    return true;
  }

  /** Marks are drawn at the last point not after them; adjacent ones of one kind share a dot. */
  #mark(marks: readonly Mark[], times: readonly number[]): void {
    this.#marked = [marks, times];
    const [series] = this.#series;
    if (series === undefined || times.length === 0) return;
    const dots = new Map<string, SeriesMarker<Time>>();
    const placed = marks.map((mark) => ({ ...mark, place: lastNotAfter(times, mark.atMs) }));
    const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
    const room = (last - first) * LABEL;
    for (const { atMs, kind, text, place } of placed) {
      const at = second(times[place] ?? atMs);
      const key = `${at} ${kind}`;
      const isAlone =
        atMs - first >= room &&
        atMs < last - room &&
        placed.every((other) => other.atMs === atMs || Math.abs(other.atMs - atMs) >= 2 * room);
      dots.set(key, {
        time: at,
        position: kind === 'FLOW' ? 'inBar' : kind === 'BUY' ? 'belowBar' : 'aboveBar',
        shape: kind === 'FLOW' ? 'square' : 'circle',
        color: this.#color(kind === 'FLOW' ? '--warm' : kind === 'BUY' ? '--up' : '--down'),
        size: kind === 'FLOW' ? 0.7 : 0.4,
        ...(isAlone && { text }),
      });
    }
    const shown = [...dots.values()].sort((one, other) => Number(one.time) - Number(other.time));
    this.#element.dataset.marks = shown.map(({ time }) => momentOf(time)).join('; ');
    if (this.#marks === undefined) this.#marks = createSeriesMarkers(series, shown);
    else this.#marks.setMarkers(shown);
  }

  #paint(): void {
    const line = this.#color('--line');
    this.#chart.applyOptions({
      layout: {
        background: { color: 'transparent' },
        textColor: this.#color('--dim'),
        panes: { separatorColor: line },
      },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
    });
    const down = this.#color('--down');
    this.#series.forEach((series, index) => {
      if (series.seriesType() === 'Baseline')
        series.applyOptions({
          topLineColor: down,
          bottomLineColor: down,
          bottomFillColor1: 'transparent',
          bottomFillColor2: 'transparent',
        });
      else series.applyOptions({ color: this.#color(COLORS[index % COLORS.length] ?? '--accent') });
    });
  }

  #color(name: string): string {
    return colorOf(this.#element, name);
  }
}

/** Width of a character of a name. */
const CHARACTER_PX = 7;
/** Largest fraction of the drawing that stays free for names. */
const MOST_NAMES = 0.3;
/** Characters of a name in a chart. */
const TITLE = 18;

const titleOf = (name: string): string =>
  name.length > TITLE ? `${name.slice(0, TITLE - 1).trimEnd()}…` : name;

/** In New York time, as all times here. */
export function tickOf(at: Time, type: TickMarkType): string {
  const style =
    type === TickMarkType.Year
      ? YEAR
      : type === TickMarkType.Month
        ? MONTH
        : type === TickMarkType.DayOfMonth
          ? DAY
          : TIME;
  return textOf(at, style);
}

/** `Jan 5, 2026, 10:00 AM ET`. */
export const momentOf = (at: Time): string => `${textOf(at, MOMENT)} ET`;

const styleOf = (style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', { ...style, timeZone: 'UTC' });
const YEAR = styleOf({ year: 'numeric' });
const MONTH = styleOf({ month: 'short', year: 'numeric' });
const DAY = styleOf({ month: 'short', day: 'numeric' });
const TIME = styleOf({ hour: 'numeric', minute: '2-digit' });
const MOMENT = styleOf({ dateStyle: 'medium', timeStyle: 'short' });

const textOf = (at: Time, style: Intl.DateTimeFormat): string =>
  style.format(Number(at) * 1000).replace('\u202f', ' ');

/** The library knows UTC alone: it is given the time in New York for it, so that its days begin when they do there. */
export const second = (atMs: number): UTCTimestamp => Math.floor(asIfInNewYork(atMs) / 1000) as UTCTimestamp;

/** The library requires at most one value per second, in order. The value before a flow is drawn a second earlier. */
function seconds(points: readonly Point[]): { readonly time: UTCTimestamp; readonly value: number }[] {
  const last = new Map<UTCTimestamp, number>();
  for (const { atMs, value } of points) {
    const time = second(atMs);
    const before = last.get(time);
    const earlier = (time - 1) as UTCTimestamp;
    if (before !== undefined && before !== value && !last.has(earlier)) last.set(earlier, before);
    last.set(time, value);
  }
  return [...last].sort(([a], [b]) => a - b).map(([time, value]) => ({ time, value }));
}

/** Index of the last of ascending times that is not after an instant; 0 when all are. */
function lastNotAfter(times: readonly number[], atMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
