/** The candles of the trade page: volume, indicators, fills, and lines of the position and of orders, which can be dragged. */
import type { Bar } from '@sandpit/protocol';
import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { compact, isoDay, price } from '../format.ts';
import { colorOf } from '../parts/color-of.ts';
import { second, momentOf, tickOf } from '../parts/drawing.ts';
import {
  bollingerBands,
  exponentialAverage,
  HAVE_PANES,
  type Indicator,
  movingAverageConvergence,
  relativeStrength,
  type Series,
  simpleAverage,
  volumeWeightedPrice,
} from './indicators.ts';

/** A fill at its instant and price. */
export interface Fill {
  readonly atMs: number;
  readonly isBuy: boolean;
  readonly text: string;
}

/** A horizontal line. One with an id can be dragged. */
export interface PriceMark {
  readonly id?: string;
  readonly price: number;
  readonly title: string;
  readonly color: '--up' | '--down' | '--accent' | '--warm';
}

/** A line or histogram of an indicator, and its color. */
interface IndicatorLine {
  readonly values: Series;
  readonly color: string;
  readonly isHistogram?: boolean;
}

/** Bars of a symbol that is compared with the one of the chart. */
export interface ComparedBars {
  readonly symbol: string;
  readonly bars: readonly Bar[];
}

/** Colors of compared symbols, in order. */
const COMPARED_COLORS = ['--accent', '--warm', '--violet', '--teal'] as const;

const LINES: Readonly<Record<Indicator, (bars: readonly Bar[]) => readonly IndicatorLine[]>> = {
  'SMA 20': (bars) => [{ values: simpleAverage(bars, 20), color: '--accent' }],
  'SMA 50': (bars) => [{ values: simpleAverage(bars, 50), color: '--violet' }],
  'EMA 20': (bars) => [{ values: exponentialAverage(bars, 20), color: '--warm' }],
  Bollinger: (bars) => {
    const { upper, lower } = bollingerBands(bars);
    return [
      { values: upper, color: '--dim' },
      { values: lower, color: '--dim' },
    ];
  },
  VWAP: (bars) => [{ values: volumeWeightedPrice(bars, isoDay), color: '--violet' }],
  'RSI 14': (bars) => [{ values: relativeStrength(bars), color: '--teal' }],
  MACD: (bars) => {
    const { line, signal, histogram } = movingAverageConvergence(bars);
    return [
      { values: histogram, color: '--line-strong', isHistogram: true },
      { values: line, color: '--accent' },
      { values: signal, color: '--warm' },
    ];
  },
};

/** Distance within which a pointer selects a line, px. */
const GRAB_PX = 7;
const DOLLARS = { type: 'custom', formatter: price, minMove: 0.01 } as const;
/** Values of indicators that are no prices. */
const HUNDREDTHS = { type: 'price', precision: 2, minMove: 0.01 } as const;
/** Bars between two fills that both have a text. */
const TEXT_BARS = 24;
/** Bars that are shown at first; the rest is to the left. */
const SHOWN = 120;
/** Empty bars at the right edge, so that the text of a fill at the last bar is not cut off. */
const RIGHT_BARS = 8;
/** Height of a pane below the candles. */
const PANE_PX = 90;

export interface DrawingHandlers {
  /** The bar under the pointer; undefined = none. */
  readonly onHover: (bar: Bar | undefined) => void;
  /** A line was dragged to a price and released. */
  readonly onDrag: (id: string, price: number) => void;
  /** The price at which a line that is dragged to another one may lie. */
  readonly snap: (price: number) => number;
  /** Instant of the first bar at the left edge, ms. */
  readonly onEdge: (fromMs: number) => void;
}

export class PriceDrawing {
  readonly #element: HTMLElement;
  readonly #chart: IChartApi;
  readonly #candles: ISeriesApi<'Candlestick'>;
  readonly #volume: ISeriesApi<'Histogram'>;
  readonly #markers: ISeriesMarkersPluginApi<Time>;
  readonly #handlers: DrawingHandlers;
  readonly #over = new AbortController();
  #bars: readonly Bar[] = [];
  #indicators: readonly Indicator[] = [];
  #indicatorLines: ISeriesApi<'Line' | 'Histogram'>[] = [];
  #compared: readonly ComparedBars[] = [];
  #comparedLines: ISeriesApi<'Line'>[] = [];
  #fills: readonly Fill[] = [];
  #marks: readonly PriceMark[] = [];
  #lines: { readonly mark: PriceMark; readonly line: IPriceLine }[] = [];
  #dragged: { readonly id: string; readonly line: IPriceLine; price: number } | undefined;
  /** Marks that wait for the end of a drag. */
  #nextMarks: readonly PriceMark[] | undefined;

  constructor(element: HTMLElement, handlers: DrawingHandlers) {
    this.#element = element;
    this.#handlers = handlers;
    this.#chart = createChart(element, {
      autoSize: true,
      // Its notice is in the page and in NOTICE; the logo would need its own style, which the policy forbids.
      layout: {
        attributionLogo: false,
        fontFamily: getComputedStyle(element).fontFamily,
        background: { color: 'transparent' },
      },
      timeScale: {
        borderVisible: false,
        timeVisible: true,
        tickMarkFormatter: tickOf,
        rightOffset: RIGHT_BARS,
      },
      rightPriceScale: { borderVisible: false },
      handleScroll: { vertTouchDrag: false },
      localization: { locale: 'en-US', timeFormatter: momentOf },
    });
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: false, priceFormat: DOLLARS });
    this.#candles.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.2 } });
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: '',
      priceFormat: { type: 'custom', formatter: compact },
      priceLineVisible: false,
      lastValueVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
    this.#markers = createSeriesMarkers(this.#candles, []);
    this.#chart.subscribeCrosshairMove(({ time }) => {
      this.#handlers.onHover(
        time === undefined ? undefined : this.#bars.find((bar) => second(bar.timestamp) === time),
      );
    });
    this.#chart.timeScale().subscribeVisibleTimeRangeChange((range) => {
      if (range !== null) this.#tellEdge(Number(range.from));
    });
    this.#paint();
    const { signal } = this.#over;
    addEventListener('theme', () => this.#paint(), { signal });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#paint(), { signal });
    this.#listen(signal);
  }

  remove(): void {
    this.#over.abort();
    this.#chart.remove();
  }

  /** Draws other bars; `fits` shows the latest of them. */
  setBars(bars: readonly Bar[], fits: boolean, shown?: number): void {
    this.#bars = bars;
    this.#candles.setData(bars.map(candleOf));
    this.#volume.setData(bars.map((bar) => ({ time: second(bar.timestamp), value: bar.volume })));
    this.#drawIndicators();
    this.#drawFills();
    if (fits) this.fit(shown);
  }

  /** Draws the last bar again, or one more. */
  update(bars: readonly Bar[]): void {
    const last = bars.at(-1);
    if (last === undefined) return;
    const isMore = bars.length !== this.#bars.length;
    this.#bars = bars;
    this.#candles.update(candleOf(last));
    this.#volume.update({ time: second(last.timestamp), value: last.volume });
    if (isMore) this.#drawFills();
    this.#drawIndicators(!isMore);
  }

  /** Shows the latest bars: as many as requested. */
  fit(shown = SHOWN): void {
    const count = this.#bars.length;
    // Once the scale at the side has its width.
    requestAnimationFrame(() => {
      if (!this.#over.signal.aborted)
        this.#chart
          .timeScale()
          .setVisibleLogicalRange({ from: Math.max(-1, count - shown), to: count + RIGHT_BARS });
    });
  }

  /** Draws the closes of other symbols, all in percent of the close at the left edge; without any, prices. */
  setCompared(compared: readonly ComparedBars[]): void {
    const isOther =
      compared.map(({ symbol }) => symbol).join() !== this.#compared.map(({ symbol }) => symbol).join();
    this.#compared = compared;
    if (isOther) {
      for (const line of this.#comparedLines) this.#chart.removeSeries(line);
      this.#comparedLines = compared.map(({ symbol }) =>
        this.#chart.addSeries(LineSeries, {
          title: symbol,
          lineWidth: 2,
          priceLineVisible: false,
          priceFormat: DOLLARS,
        }),
      );
      this.#candles.priceScale().applyOptions({
        mode: compared.length > 0 ? PriceScaleMode.Percentage : PriceScaleMode.Normal,
        autoScale: true,
      });
    }
    this.#drawCompared();
    const range = this.#chart.timeScale().getVisibleRange();
    if (range !== null) this.#tellEdge(Number(range.from));
  }

  #drawCompared(): void {
    this.#comparedLines.forEach((line, index) => {
      line.applyOptions({
        color: this.#color(COMPARED_COLORS[index % COMPARED_COLORS.length] ?? '--accent'),
      });
      line.setData(
        (this.#compared[index]?.bars ?? []).map(({ timestamp, close }) => ({
          time: second(timestamp),
          value: close,
        })),
      );
    });
  }

  /** Reports the first bar of any symbol at or after a time of the chart. */
  #tellEdge(from: number): void {
    const first = [this.#bars, ...this.#compared.map(({ bars }) => bars)].flatMap(
      (bars) => bars.find(({ timestamp }) => second(timestamp) >= from)?.timestamp ?? [],
    );
    if (first.length > 0) this.#handlers.onEdge(Math.min(...first));
  }

  setIndicators(indicators: readonly Indicator[]): void {
    if (indicators.join() === this.#indicators.join()) return;
    this.#indicators = indicators;
    for (const line of this.#indicatorLines) this.#chart.removeSeries(line);
    this.#indicatorLines = [];
    this.#drawIndicators();
  }

  setFills(fills: readonly Fill[]): void {
    this.#fills = fills;
    this.#drawFills();
  }

  setMarks(marks: readonly PriceMark[]): void {
    // A line stays under the pointer that drags it.
    if (this.#dragged !== undefined) {
      this.#nextMarks = marks;
      return;
    }
    if (JSON.stringify(marks) === JSON.stringify(this.#marks)) return;
    this.#marks = marks;
    for (const { line } of this.#lines) this.#candles.removePriceLine(line);
    this.#lines = marks.map((mark) => ({
      mark,
      line: this.#candles.createPriceLine({
        price: mark.price,
        title: mark.title,
        color: this.#color(mark.color),
        lineWidth: 1,
        lineStyle: mark.id === undefined ? LineStyle.Dotted : LineStyle.Dashed,
        axisLabelVisible: true,
      }),
    }));
  }

  /** Drags the line under the pointer and reports the price at which it is released. Escape restores its price. */
  #listen(signal: AbortSignal): void {
    const options = { signal, capture: true } as const;
    const yOf = (event: PointerEvent): number => event.clientY - this.#element.getBoundingClientRect().top;
    this.#element.addEventListener(
      'pointerdown',
      (event) => {
        const found = this.#lineAt(yOf(event));
        if (found?.mark.id === undefined) return;
        event.stopPropagation();
        event.preventDefault();
        this.#element.setPointerCapture(event.pointerId);
        this.#chart.applyOptions({ handleScroll: false, handleScale: false });
        this.#dragged = { id: found.mark.id, line: found.line, price: found.mark.price };
      },
      options,
    );
    this.#element.addEventListener(
      'pointermove',
      (event) => {
        const dragged = this.#dragged;
        if (dragged === undefined) {
          this.#element.classList.toggle('grabbable', this.#lineAt(yOf(event)) !== undefined);
          return;
        }
        const at = this.#candles.coordinateToPrice(yOf(event));
        if (at === null || at <= 0) return;
        dragged.price = this.#handlers.snap(at);
        dragged.line.applyOptions({ price: dragged.price });
      },
      options,
    );
    const end = (isKept: boolean): void => {
      const dragged = this.#dragged;
      if (dragged === undefined) return;
      this.#dragged = undefined;
      this.#chart.applyOptions({ handleScroll: { vertTouchDrag: false }, handleScale: true });
      const before = this.#marks.find(({ id }) => id === dragged.id)?.price;
      if (before !== undefined) dragged.line.applyOptions({ price: before });
      const next = this.#nextMarks;
      this.#nextMarks = undefined;
      if (next !== undefined) this.setMarks(next);
      if (isKept && before !== dragged.price) this.#handlers.onDrag(dragged.id, dragged.price);
    };
    this.#element.addEventListener('pointerup', () => end(true), options);
    this.#element.addEventListener('pointercancel', () => end(false), options);
    addEventListener(
      'keydown',
      ({ key }) => {
        if (key === 'Escape') end(false);
      },
      options,
    );
  }

  #lineAt(y: number): { readonly mark: PriceMark; readonly line: IPriceLine } | undefined {
    return this.#lines.find(({ mark }) => {
      const at = mark.id === undefined ? null : this.#candles.priceToCoordinate(mark.price);
      return at !== null && Math.abs(at - y) <= GRAB_PX;
    });
  }

  /** Draws indicators; `onlyLast`: their last value. Those with a scale of their own have a pane each. */
  #drawIndicators(onlyLast = false): void {
    let panes = 0;
    const lines = this.#indicators.flatMap((name) => {
      const pane = HAVE_PANES.has(name) ? (panes += 1) : 0;
      return LINES[name](this.#bars).map((line) => ({ ...line, pane }));
    });
    lines.forEach(({ values, color, isHistogram, pane }, index) => {
      const options = {
        priceLineVisible: false,
        lastValueVisible: pane > 0 && isHistogram !== true,
        priceFormat: pane > 0 ? HUNDREDTHS : DOLLARS,
      };
      const series =
        this.#indicatorLines[index] ??
        (isHistogram === true
          ? this.#chart.addSeries(HistogramSeries, options, pane)
          : this.#chart.addSeries(
              LineSeries,
              { ...options, lineWidth: 1, crosshairMarkerVisible: false },
              pane,
            ));
      this.#indicatorLines[index] = series;
      series.applyOptions({ color: this.#color(color) });
      const last = this.#bars.length - 1;
      const bar = this.#bars[last];
      const value = values[last];
      if (onlyLast && bar !== undefined && value !== undefined)
        series.update({ time: second(bar.timestamp), value });
      else
        series.setData(
          this.#bars.flatMap(({ timestamp }, at) => {
            const point = values[at];
            return point === undefined ? [] : [{ time: second(timestamp), value: point }];
          }),
        );
    });
    for (const pane of this.#chart.panes().slice(1)) pane.setHeight(PANE_PX);
  }

  /** A fill is drawn at its bar; fills of one side in one bar share an arrow. Texts are drawn only if they do not overlap. */
  #drawFills(): void {
    const arrows = new Map<string, SeriesMarker<Time>>();
    const placed = this.#fills.flatMap((fill) => {
      const place = this.#bars.findLastIndex(({ timestamp }) => timestamp <= fill.atMs);
      return place < 0 ? [] : [{ ...fill, place }];
    });
    for (const { isBuy, text, place } of placed) {
      const bar = this.#bars[place];
      if (bar === undefined) continue;
      const isAlone = placed.every(
        (other) => other.place === place || Math.abs(other.place - place) > TEXT_BARS,
      );
      arrows.set(`${bar.timestamp} ${isBuy}`, {
        time: second(bar.timestamp),
        position: isBuy ? 'belowBar' : 'aboveBar',
        shape: isBuy ? 'arrowUp' : 'arrowDown',
        color: this.#color(isBuy ? '--up' : '--down'),
        ...(isAlone && { text }),
        size: 0.8,
      });
    }
    this.#markers.setMarkers([...arrows.values()].sort((a, b) => Number(a.time) - Number(b.time)));
  }

  #paint(): void {
    const line = this.#color('--line');
    const [up, down] = [this.#color('--up'), this.#color('--down')];
    this.#chart.applyOptions({
      layout: { textColor: this.#color('--dim'), panes: { separatorColor: line } },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
    });
    this.#candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
    this.#volume.applyOptions({ color: line });
    const marks = this.#marks;
    this.#marks = [];
    this.setMarks(marks);
    this.#drawIndicators();
    this.#drawCompared();
    this.#drawFills();
  }

  #color(name: string): string {
    return colorOf(this.#element, name);
  }
}

const candleOf = ({
  timestamp,
  open,
  high,
  low,
  close,
}: Bar): {
  readonly time: UTCTimestamp;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
} => ({ time: second(timestamp), open, high, low, close });
