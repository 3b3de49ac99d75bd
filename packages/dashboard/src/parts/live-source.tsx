/** The source of live market data: its connection, and how much of its plan is in use. */
import { useBroker } from '../broker.ts';
import { moment, quantity } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { Figure } from './figure.tsx';

/** Nothing where the server has no live source. */
export function LiveSource() {
  const broker = useBroker();
  const ready = useLoad(() => broker.call('getReadiness'), []);
  useEvery(5000, ready.reload);
  const feed = ready.value?.feed;
  if (feed === undefined) return null;
  const { source, status, since, symbols, limit, delayedBy, halts, lastMessageAt, reason } = feed;
  return (
    <section aria-label="Live market data">
      <h2>Live market data</h2>
      <dl class="figures wide">
        <Figure name="Source">{source}</Figure>
        <Figure name="State">
          {status} since {moment(Date.parse(since))}
        </Figure>
        <Figure name="Symbols in use">
          {quantity(symbols)} {limit === undefined ? '(no limit)' : `of ${quantity(limit)}`}
        </Figure>
        <Figure name="Delay">{delayedBy === 0 ? 'none' : `${quantity(delayedBy / 60)} minutes`}</Figure>
        <Figure name="Halts told">{halts}</Figure>
        <Figure name="Last message">
          {lastMessageAt === undefined ? 'none yet' : moment(Date.parse(lastMessageAt))}
        </Figure>
      </dl>
      {limit !== undefined && (
        <meter min={0} max={limit} high={limit * 0.9} optimum={0} value={symbols} aria-label="Symbols in use">
          {quantity(symbols)} of {quantity(limit)}
        </meter>
      )}
      {reason !== undefined && <p role="status">{reason}</p>}
    </section>
  );
}
