/** Equity of portfolios at their closes, read seldom enough for the rate limits of four pages with 24 portfolios. */
import type { EquityPoint } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import type { Point } from '../chart-data.ts';
import { type SinceClose, sinceCloseOf } from './returns.ts';

export interface Closes {
  /** Oldest first: closes, or hours if there are few closes. */
  readonly points: readonly Point[];
  /** Base of the P&L since the last close; undefined before the first one. */
  readonly sinceClose: SinceClose | undefined;
}

/** Minimum interval between two reads of a portfolio; it grows with the number of portfolios. */
const KEPT_MS = 2000;
const KEPT_PER_PORTFOLIO_MS = 1000;
const CLOSES = 90;
/** Closes from which on they are a curve. */
const YOUNG = 3;

interface Kept {
  readonly atMs: number;
  readonly closes: Promise<Closes>;
}

const kept = new WeakMap<Broker, Map<string, Kept>>();

/** Closes of a portfolio; cached ones while they are recent enough. */
function closesOf(broker: Broker, portfolioId: string, keptMs = KEPT_MS): Promise<Closes> {
  const own = kept.get(broker) ?? new Map<string, Kept>();
  kept.set(broker, own);
  const known = own.get(portfolioId);
  if (known !== undefined && Date.now() - known.atMs < keptMs) return known.closes;
  const closes = read(broker, portfolioId);
  own.set(portfolioId, { atMs: Date.now(), closes });
  closes.catch(() => own.delete(portfolioId));
  return closes;
}

async function read(broker: Broker, portfolioId: string): Promise<Closes> {
  const params = { portfolioId };
  const { data } = await broker.call('getEquityCurve', { params, query: { limit: CLOSES } });
  const points =
    data.length >= YOUNG
      ? data
      : (await broker.call('getEquityCurve', { params, query: { interval: '1h', limit: CLOSES } })).data;
  const [close] = data;
  return {
    points: points.map(pointOf).toReversed(),
    sinceClose: close && (await readSince(broker, portfolioId, close)),
  };
}

/** Events after the close at its instant count as since the close. */
async function readSince(broker: Broker, portfolioId: string, close: EquityPoint): Promise<SinceClose> {
  const from = new Date(Date.parse(close.at) - 1).toISOString();
  const performance = await broker.call('getPerformance', { params: { portfolioId }, query: { from } });
  return sinceCloseOf(close, performance);
}

const pointOf = ({ at, totalEquity }: EquityPoint): Point => ({ atMs: Date.parse(at), value: totalEquity });

/** The closes of several portfolios, by id; cached ones before the others arrive. */
export function useCloses(portfolioIds: readonly string[], version: number): ReadonlyMap<string, Closes> {
  const broker = useBroker();
  const [found, setFound] = useState<ReadonlyMap<string, Closes>>(new Map());
  const key = portfolioIds.join();
  useEffect(() => {
    let isOver = false;
    const keptMs = Math.max(KEPT_MS, portfolioIds.length * KEPT_PER_PORTFOLIO_MS);
    void Promise.all(
      portfolioIds.map(
        async (id) => [id, await closesOf(broker, id, keptMs).catch(() => undefined)] as const,
      ),
    ).then((all) => {
      if (!isOver)
        setFound(new Map(all.flatMap(([id, one]) => (one === undefined ? [] : [[id, one] as const]))));
    });
    return () => {
      isOver = true;
    };
  }, [broker, key, version]);
  return found;
}

/** The sum of several curves: at each of their instants, what each was worth last. */
export function sumOf(curves: readonly (readonly Point[])[]): readonly Point[] {
  const times = [...new Set(curves.flatMap((points) => points.map(({ atMs }) => atMs)))].sort(
    (a, b) => a - b,
  );
  const next = curves.map(() => 0);
  const value = curves.map(() => 0);
  return times.map((atMs) => {
    curves.forEach((points, index) => {
      for (let at = next[index] ?? 0; ; at += 1) {
        const point = points[at];
        next[index] = at;
        if (point === undefined || point.atMs > atMs) return;
        value[index] = point.value;
      }
    });
    return { atMs, value: value.reduce((sum, one) => sum + one, 0) };
  });
}
