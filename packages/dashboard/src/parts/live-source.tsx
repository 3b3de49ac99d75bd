/** The source of live market data: its connection, and the symbols of its plan that are in use. */
import type { FeedState } from '@sandpit/protocol';
import { useReadiness } from '../live/readiness.ts';
import { moment, quantity, time, words } from '../format.ts';
import { Figure } from './figure.tsx';

/** Status of the live source; empty when the server has none. */
export function LiveSource() {
  const feed = useReadiness().value?.feed;
  if (feed === undefined) return null;
  const { source, status, since, symbols, limit, delayedBy, halts, lastMessageAt, reason } = feed;
  return (
    <section class="panel" aria-label="Live market data">
      <h2>Live market data</h2>
      <dl class="figures wide">
        <Figure name="Source">{source}</Figure>
        <Figure
          name="Connection"
          tone={status === 'connected' ? 'up' : 'down'}
          note={`since ${moment(since)}`}
        >
          {words(status)}
        </Figure>
        <Figure name="Symbols subscribed">
          {quantity(symbols)} {limit === undefined ? '(no limit)' : `of ${quantity(limit)}`}
        </Figure>
        <Figure name="Delay">{delayedBy === 0 ? 'None' : `${quantity(delayedBy / 60)} minutes`}</Figure>
        <Figure name="Halts reported">{HALTS[halts]}</Figure>
        <Figure name="Last message">
          {lastMessageAt === undefined ? 'None yet' : moment(lastMessageAt)}
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

const HALTS = { full: 'All listings', nasdaq: 'Nasdaq listings', none: 'None' } as const;

/** The state of the source in one line, for the banner. */
export function FeedTag() {
  const feed = useReadiness().value?.feed;
  return feed === undefined ? null : (
    <span class={feed.status === 'connected' ? 'tag' : 'tag bad'} title={feed.reason} role="status">
      {feedText(feed)}
    </span>
  );
}

/** `alpaca connected · 15 min delayed · 3 of 30 symbols`. */
function feedText({ source, status, since, symbols, limit, delayedBy }: FeedState): string {
  return [
    `${source} ${status === 'connected' ? status : `${status} since ${time(since)}`}`,
    ...(delayedBy > 0 ? [`${quantity(delayedBy / 60)} min delayed`] : []),
    `${quantity(symbols)}${limit === undefined ? '' : ` of ${quantity(limit)}`} symbols`,
  ].join(' · ');
}
