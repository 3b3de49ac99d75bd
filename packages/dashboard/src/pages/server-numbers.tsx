/** Figures of the server that answers, and its limit of requests. */
import type { ServerFigures } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped, quantity } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { Figure } from '../parts/figure.tsx';
import { isValid, NumberField } from '../parts/field.tsx';
import { Problem, Refusal } from '../parts/notice.tsx';
import { bytesText, msText, rateText, toneOfServer, uptimeText } from './server-text.ts';

const AGAIN_MS = 5000;

export function Numbers() {
  const broker = useBroker();
  const figures = useLoad(() => broker.call('getServer'), []);
  useEvery(AGAIN_MS, figures.reload);
  const { value, error, reload } = figures;
  return (
    <section class="panel" aria-label="Numbers of the server">
      <div class="heading">
        <h2>Numbers</h2>
        {value !== undefined && (
          <span class="dim">
            {value.nodeId}, up {uptimeText(value.uptimeSeconds)}
          </span>
        )}
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {value !== undefined && <Figures of={value} />}
    </section>
  );
}

function Figures({ of }: { readonly of: ServerFigures }) {
  const { traffic, cells, memory, disk, store, webhooks } = of;
  const tones = toneOfServer(of);
  return (
    <dl class="figures wide">
      <Figure name="Orders" note={`${quantity(traffic.ordersAccepted)} since the start`}>
        {rateText(traffic.ordersPerSecond)}
      </Figure>
      <Figure name="Requests" note={`${rateText(traffic.failuresPerSecond)} failed`} tone={tones.failures}>
        {rateText(traffic.requestsPerSecond)}
      </Figure>
      <Figure name="Time to answer, p99" note={`median ${msText(traffic.p50Ms)}`} tone={tones.p99}>
        {msText(traffic.p99Ms)}
      </Figure>
      <Figure name="Streams">{quantity(traffic.streams)}</Figure>
      <Figure
        name="Cells in memory"
        note={
          cells.outOfService > 0
            ? `${quantity(cells.outOfService)} out of service`
            : `of ${quantity(cells.all)}`
        }
        tone={tones.cells}
      >
        {quantity(cells.inMemory)}
      </Figure>
      <Figure name="Open orders">{quantity(cells.openOrders)}</Figure>
      <Figure name="Memory" note={`${bytesText(memory.heapBytes)} heap`}>
        {bytesText(memory.residentBytes)}
      </Figure>
      <Figure
        name="Disk"
        note={disk === undefined ? 'data in memory' : `${bytesText(disk.freeBytes)} free`}
        tone={tones.disk}
      >
        {disk === undefined ? '–' : bytesText(disk.dataBytes)}
      </Figure>
      <Figure name="Writes waiting" note={`lists ${quantity(store.historyBehind)} behind`}>
        {quantity(store.waiting)}
      </Figure>
      <Figure
        name="Webhooks"
        note={`${quantity(webhooks.delivered)} delivered, ${quantity(webhooks.failed)} attempts failed`}
      >
        {quantity(webhooks.enabled)} enabled
      </Figure>
      <Figure name="Webhook backlog">{quantity(webhooks.backlog)}</Figure>
    </dl>
  );
}

/** Changes the requests per minute. */
export function RequestLimit() {
  const broker = useBroker();
  const figures = useLoad(() => broker.call('getServer'), []);
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<Error>();
  const limits = figures.value?.limits;
  useEffect(() => {
    if (limits !== undefined) setTyped(String(limits.requestsPerMinute));
  }, [limits?.requestsPerMinute]);
  const change = (requestsPerMinute: number | null): void => {
    setError(undefined);
    broker
      .call('updateServerLimits', { body: { requestsPerMinute } })
      .then(figures.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const value = numberTyped(typed);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isValid(event) && value !== undefined) change(value);
  };
  return (
    <>
      <form class="grid" aria-label="Limit of requests" onSubmit={submit}>
        <NumberField
          name="Requests per minute"
          value={typed}
          onChange={setTyped}
          note={
            limits === undefined || limits.requestsPerMinute === limits.configured
              ? 'As the server is configured.'
              : `The server is configured with ${quantity(limits.configured)}.`
          }
        />
        <button type="submit" disabled={value === undefined || value === limits?.requestsPerMinute}>
          Change the limit
        </button>
        {limits !== undefined && limits.requestsPerMinute !== limits.configured && (
          <button type="button" onClick={() => change(null)}>
            Back to {quantity(limits.configured)}
          </button>
        )}
      </form>
      {error !== undefined && <Refusal error={error} />}
    </>
  );
}
