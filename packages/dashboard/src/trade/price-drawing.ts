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
  type Indicator,
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
  readonly color: '--up' | '--down' | '--accent' | '--dim';
}

/** A line of an indicator: its values, its color, and its pane. */
interface IndicatorLine {
  readonly values: Series;
  readonly color: string;
  readonly hasPane?: boolean;
}

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
  'RSI 14': (bars) => [{ values: relativeStrength(bars), color: '--teal', hasPane: true }],
};

/** Distance within which a pointer selects a line, px. */
const GRAB_PX = 7;
const DOLLARS = { type: 'custom', formatter: price, minMove: 0.01 } as const;
/** Bars between two fills that both have a text. */
const TEXT_BARS = 24;
/** Bars that are shown at first; the rest is to the left. */
const SHOWN = 120;

export interface DrawingHandlers {
  /** The bar under the pointer; undefined = none. */
  readonly onHover: (bar: Bar | undefined) => void;
  /** A line was dragged to a price and released. */
  readonly onDrag: (id: string, price: number) => void;
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
  #indicatorLines: ISeriesApi<'Line'>[] = [];
  #fills: readonly Fill[] = [];
  #marks: readonly PriceMark[] = [];
  #lines: { readonly mark: PriceMark; readonly line: IPriceLine }[] = [];
  #dragged: { readonly id: string; readonly line: IPriceLine; price: number } | undefined;

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
      timeScale: { borderVisible: false, timeVisible: true, tickMarkFormatter: tickOf, rightOffset: 4 },
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
        this.#chart.timeScale().setVisibleLogicalRange({ from: Math.max(-1, count - shown), to: count + 4 });
    });
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
    if (JSON.stringify(marks) === JSON.stringify(this.#marks)) return;
    this.#marks = marks;
    for (const { line } of this.#lines) this.#candles.removePriceLine(line);
    this.#dragged = undefined;
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
        dragged.price = Math.round(at * 100) / 100;
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
      if (isKept && before !== dragged.price) this.#handlers.onDrag(dragged.id, dragged.price);
      else if (before !== undefined) dragged.line.applyOptions({ price: before });
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

  /** Draws indicators; `onlyLast`: their last value. */
  #drawIndicators(onlyLast = false): void {
    const lines = this.#indicators.flatMap((name) => LINES[name](this.#bars));
    lines.forEach(({ values, color, hasPane }, index) => {
      const series =
        this.#indicatorLines[index] ??
        this.#chart.addSeries(
          LineSeries,
          {
            lineWidth: 1,
            priceLineVisible: false,
            lastValueVisible: hasPane === true,
            crosshairMarkerVisible: false,
            priceFormat: DOLLARS,
          },
          hasPane === true ? 1 : 0,
        );
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
    this.#chart.panes()[1]?.setHeight(90);
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
