/** The time of a simulation as a line: sessions, scheduled and past events, snapshots and forks. */
import type { Snapshot, TradingCalendar } from '@sandpit/protocol';
import type { TargetedEvent, TargetedPointerEvent } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Point } from '../chart-data.ts';
import { hrefOf } from '../route.ts';
import type { Branch, Marker, MarkerKind } from './coming.ts';
import {
  clustersOf,
  isWithin,
  shareOf,
  type SpanName,
  SPANS,
  stamp,
  ticksOf,
  type TimeWindow,
  windowAround,
} from './scale.ts';
import './time.css';

/** Width of a marker, px: closer ones are merged. */
const MARKER_PX = 26;
const KEY_STEP = 0.05;

const SIGNS: Readonly<Record<MarkerKind, readonly [sign: string, name: string]>> = {
  dividend: ['D', 'Dividend'],
  split: ['S', 'Split'],
  expiration: ['E', 'Expiration'],
  settlement: ['$', 'Settlement'],
  call: ['!', 'Margin call'],
  fill: ['•', 'Fill'],
  snapshot: ['◆', 'Snapshot'],
};

const percentOf = (share: number): string => `${(Math.min(1, Math.max(0, share)) * 100).toFixed(3)}%`;

export interface Chosen {
  readonly atMs: number;
  /** Text of the marker; empty = a position on the line. */
  readonly markers: readonly Marker[];
}

export function Timeline({
  nowMs,
  span,
  onSpan,
  calendar,
  markers,
  snapshots,
  branches,
  equity,
  chosen,
  onChoose,
}: {
  readonly nowMs: number;
  readonly span: SpanName;
  readonly onSpan: (span: SpanName) => void;
  readonly calendar: TradingCalendar | undefined;
  readonly markers: readonly Marker[];
  readonly snapshots: readonly Snapshot[];
  readonly branches: readonly Branch[];
  /** Total equity, drawn behind the past. */
  readonly equity: readonly Point[];
  readonly chosen: Chosen | undefined;
  readonly onChoose: (chosen: Chosen | undefined) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  /** Distance that the user moved the window, ms. */
  const [shiftMs, setShiftMs] = useState(0);
  useEffect(() => setShiftMs(0), [span]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const window = windowAround(nowMs + shiftMs, span);
  const shift = (share: number): void => setShiftMs(shiftMs + share * SPANS[span].ms);
  return (
    <div class="timeline">
      <div class="row timeline-tools">
        <div class="tabs" role="group" aria-label="Span of the timeline">
          {(Object.keys(SPANS) as SpanName[]).map((name) => (
            <button key={name} type="button" aria-pressed={name === span} onClick={() => onSpan(name)}>
              {SPANS[name].title}
            </button>
          ))}
        </div>
        <span class="inline">
          <button type="button" aria-label="Earlier" onClick={() => shift(-0.4)}>
            ◀
          </button>
          <button type="button" disabled={shiftMs === 0} onClick={() => setShiftMs(0)}>
            Now
          </button>
          <button type="button" aria-label="Later" onClick={() => shift(0.4)}>
            ▶
          </button>
        </span>
        <Legend markers={markers} snapshots={snapshots} />
      </div>
      <Line
        key={span}
        innerRef={box}
        width={width}
        window={window}
        span={span}
        nowMs={nowMs}
        calendar={calendar}
        markers={markers}
        snapshots={snapshots}
        equity={equity}
        chosen={chosen}
        onChoose={onChoose}
        onShift={shift}
      />
      <Branches branches={branches} window={window} />
    </div>
  );
}

function Legend({
  markers,
  snapshots,
}: {
  readonly markers: readonly Marker[];
  readonly snapshots: readonly Snapshot[];
}) {
  const kinds = new Set<MarkerKind>(markers.map(({ kind }) => kind));
  if (snapshots.length > 0) kinds.add('snapshot');
  return (
    <ul class="legend" aria-label="Markers">
      {(Object.keys(SIGNS) as MarkerKind[])
        .filter((kind) => kinds.has(kind))
        .map((kind) => (
          <li key={kind}>
            <span class={`sign ${kind}`} aria-hidden="true">
              {SIGNS[kind][0]}
            </span>{' '}
            {SIGNS[kind][1]}
          </li>
        ))}
    </ul>
  );
}

function Line({
  innerRef,
  width,
  window,
  span,
  nowMs,
  calendar,
  markers,
  snapshots,
  equity,
  chosen,
  onChoose,
  onShift,
}: {
  readonly innerRef: { current: HTMLDivElement | null };
  readonly width: number;
  readonly window: TimeWindow;
  readonly span: SpanName;
  readonly nowMs: number;
  readonly calendar: TradingCalendar | undefined;
  readonly markers: readonly Marker[];
  readonly snapshots: readonly Snapshot[];
  readonly equity: readonly Point[];
  readonly chosen: Chosen | undefined;
  readonly onChoose: (chosen: Chosen | undefined) => void;
  readonly onShift: (share: number) => void;
}) {
  const [hoverMs, setHoverMs] = useState<number>();
  const drag = useRef<{ x: number; isMoved: boolean }>();
  const all = useMemo(
    () => [
      ...markers,
      ...snapshots.map(({ snapshotId, name, at }): Marker => ({
        key: `snapshot ${snapshotId}`,
        kind: 'snapshot',
        atMs: Date.parse(at),
        title: name === undefined ? 'Snapshot' : `Snapshot “${name}”`,
      })),
    ],
    [markers, snapshots],
  );
  const clusters = clustersOf(all, window, MARKER_PX / Math.max(width, 1));
  const instantAt = (
    event: TargetedPointerEvent<HTMLElement> | TargetedEvent<HTMLElement, MouseEvent>,
  ): number => {
    const { left, width: whole } = event.currentTarget.getBoundingClientRect();
    return window.fromMs + ((event.clientX - left) / whole) * (window.toMs - window.fromMs);
  };
  const onKey = (event: TargetedEvent<HTMLElement, KeyboardEvent>): void => {
    const from = chosen?.atMs ?? nowMs;
    const step = SPANS[span].ms * KEY_STEP * (event.shiftKey ? 5 : 1);
    if (event.key === 'ArrowLeft') onChoose({ atMs: from - step, markers: [] });
    else if (event.key === 'ArrowRight') onChoose({ atMs: from + step, markers: [] });
    else if (event.key === 'Home') onChoose(undefined);
    else return;
    event.preventDefault();
  };
  const share = (atMs: number): string => percentOf(shareOf(window, atMs));
  return (
    <div class="line" ref={innerRef}>
      <div
        class="track"
        role="slider"
        tabIndex={0}
        aria-label="Time. Arrow keys choose an instant, Home goes back to now"
        aria-valuemin={Math.round(window.fromMs / 1000)}
        aria-valuemax={Math.round(window.toMs / 1000)}
        aria-valuenow={Math.round((chosen?.atMs ?? nowMs) / 1000)}
        aria-valuetext={stamp(chosen?.atMs ?? nowMs)}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, isMoved: false };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          setHoverMs(instantAt(event));
          const from = drag.current;
          if (from === undefined || Math.abs(event.clientX - from.x) < (from.isMoved ? 1 : 6)) return;
          onShift((from.x - event.clientX) / Math.max(width, 1));
          drag.current = { x: event.clientX, isMoved: true };
        }}
        onPointerUp={(event) => {
          const isClick = drag.current?.isMoved === false;
          drag.current = undefined;
          if (isClick) onChoose({ atMs: instantAt(event), markers: [] });
        }}
        onPointerLeave={() => setHoverMs(undefined)}
      >
        <Sessions calendar={calendar} window={window} span={span} nowMs={nowMs} />
        <Equity points={equity} nowMs={nowMs} window={window} />
        {isWithin(window, nowMs) && (
          <span class="future" style={{ left: share(nowMs), right: '0' }} aria-hidden="true" />
        )}
        {ticksOf(window, span).map(({ atMs, text }) => (
          <span key={atMs} class="tick" style={{ left: share(atMs) }} aria-hidden="true">
            {text}
          </span>
        ))}
        {isWithin(window, nowMs) && <span class="now" style={{ left: share(nowMs) }} aria-hidden="true" />}
        {chosen !== undefined && isWithin(window, chosen.atMs) && (
          <span class="chosen" style={{ left: share(chosen.atMs) }} aria-hidden="true" />
        )}
        {hoverMs !== undefined && isWithin(window, hoverMs) && (
          <span class="hover" style={{ left: share(hoverMs) }} aria-hidden="true">
            <span class={shareOf(window, hoverMs) > 0.8 ? 'left' : ''}>
              {stamp(hoverMs)} · {hoverMs > nowMs ? 'jump' : 'fork'}
            </span>
          </span>
        )}
      </div>
      {clusters.map((items) => (
        <MarkerButton
          key={items[0]?.key}
          items={items}
          left={share(items[0]?.atMs ?? 0)}
          isPast={(items[0]?.atMs ?? 0) <= nowMs}
          isChosen={chosen?.markers[0]?.key === items[0]?.key && items.length > 0}
          onChoose={() => onChoose({ atMs: items[0]?.atMs ?? nowMs, markers: items })}
        />
      ))}
    </div>
  );
}

function MarkerButton({
  items,
  left,
  isPast,
  isChosen,
  onChoose,
}: {
  readonly items: readonly Marker[];
  readonly left: string;
  readonly isPast: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const [first] = items;
  if (first === undefined) return null;
  const isSnapshot = items.every(({ kind }) => kind === 'snapshot');
  const isFill = items.every(({ kind }) => kind === 'fill');
  const kind =
    items.find((one) => one.kind === 'call')?.kind ??
    items.find((one) => one.kind !== 'fill')?.kind ??
    first.kind;
  const texts = items.map(({ title }) => title).join('; ');
  return (
    <button
      type="button"
      class={`marker ${kind} ${isSnapshot || isFill ? 'low' : ''} ${isPast ? 'past' : ''}`}
      style={{ left }}
      aria-pressed={isChosen}
      aria-label={`${stamp(first.atMs)}: ${texts}`}
      title={`${stamp(first.atMs)}\n${items.map(({ title }) => title).join('\n')}`}
      onClick={onChoose}
    >
      {items.length > 1 && !isFill ? items.length : SIGNS[kind][0]}
    </button>
  );
}

/** Regular sessions; of a day and a week the extended ones too. */
function Sessions({
  calendar,
  window,
  span,
  nowMs,
}: {
  readonly calendar: TradingCalendar | undefined;
  readonly window: TimeWindow;
  readonly span: SpanName;
  readonly nowMs: number;
}) {
  if (calendar === undefined || span === 'year' || span === 'quarter') return null;
  return (
    <>
      {calendar.days
        .filter(({ open, close }) => Date.parse(close) > window.fromMs && Date.parse(open) < window.toMs)
        .map((one) => {
          const band = (from: string, to: string, name: string, title: string) => (
            <span
              key={name}
              class={`band ${name} ${Date.parse(to) <= nowMs ? 'past' : ''}`}
              title={title}
              style={{
                left: percentOf(shareOf(window, Date.parse(from))),
                right: percentOf(1 - shareOf(window, Date.parse(to))),
              }}
            />
          );
          return (
            <span key={one.date} aria-hidden="true">
              {span !== 'month' && band(one.extendedOpen, one.extendedClose, 'extended', 'Extended session')}
              {band(
                one.open,
                one.close,
                one.earlyClose ? 'regular early' : 'regular',
                `${one.date}: open ${one.open.slice(11, 16)}, close ${one.close.slice(11, 16)}${one.earlyClose ? ' (early)' : ''}`,
              )}
            </span>
          );
        })}
    </>
  );
}

const EQUITY_HEIGHT = 100;

/** The curve of the past, as high as its own range. */
function Equity({
  points,
  nowMs,
  window,
}: {
  readonly points: readonly Point[];
  readonly nowMs: number;
  readonly window: TimeWindow;
}) {
  const seen = points.filter(({ atMs }) => atMs >= window.fromMs && atMs <= Math.min(nowMs, window.toMs));
  if (seen.length < 2) return null;
  const values = seen.map(({ value }) => value);
  const least = Math.min(...values);
  const range = Math.max(...values) - least || 1;
  const at = ({ atMs, value }: Point): string =>
    `${(shareOf(window, atMs) * 1000).toFixed(1)},${(EQUITY_HEIGHT * (0.9 - (0.75 * (value - least)) / range)).toFixed(1)}`;
  const line = seen.map(at).join(' ');
  const [first, last] = [seen[0], seen.at(-1)];
  if (first === undefined || last === undefined) return null;
  const x = (atMs: number): string => (shareOf(window, atMs) * 1000).toFixed(1);
  return (
    <svg class="equity" viewBox={`0 0 1000 ${EQUITY_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`${x(first.atMs)},${EQUITY_HEIGHT} ${line} ${x(last.atMs)},${EQUITY_HEIGHT}`} />
      <polyline points={line} />
    </svg>
  );
}

/** A line for each fork of this simulation, and for its parent. */
function Branches({
  branches,
  window,
}: {
  readonly branches: readonly Branch[];
  readonly window: TimeWindow;
}) {
  if (branches.length === 0) return null;
  return (
    <ul class="branches" aria-label="Forks">
      {branches.map((branch) => {
        const { simulationId, name, fromMs, nowMs, isParent } = branch;
        const from = shareOf(window, fromMs);
        const to = shareOf(window, nowMs);
        return (
          <li key={simulationId}>
            {to > 0 && from < 1 && (
              <span
                class={isParent ? 'twig parent' : 'twig'}
                style={{ left: percentOf(from), right: percentOf(1 - to) }}
                aria-hidden="true"
              />
            )}
            <a
              href={hrefOf(simulationId, 'time')}
              style={{ left: percentOf(Math.min(0.8, Math.max(0, from))) }}
              title={`${isParent ? 'Parent' : 'Fork'} “${name}”: ${stamp(fromMs)} to ${stamp(nowMs)}`}
            >
              {isParent ? '↑ ' : '↳ '}
              {name} <span class="dim">at {stamp(nowMs)}</span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
