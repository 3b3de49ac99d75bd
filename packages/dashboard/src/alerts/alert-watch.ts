/** Announces price alerts, margin calls and expirations as they happen, on every page; after an absence, what happened since. */
import type { Activity, Alert } from '@sandpit/protocol';
import { activityText } from '../activity-text.ts';
import type { Broker } from '../broker.ts';
import { price } from '../format.ts';
import { summaryOf } from '../time/jump-summary.ts';
import { announce } from '../ui/toaster.tsx';
import { keyOf, kindOf, levelText, newlyFired, wantedAfter } from './alert-events.ts';
import { isTold, memoryOf, remember } from './alert-memory.ts';
import { setUnseen } from './unseen.ts';

/** Interval between reads of alerts while one is active, and of everything else. */
const ALERTS_MS = 2000;
const EVENTS_MS = 15_000;
/** Portfolios that are looked through, and activities of each. */
const PORTFOLIOS = 10;
const ACTIVITIES = 200;
/** Beyond this many a single notice sums up. */
const FEW = 3;

type WatchBroker = Pick<Broker, 'call' | 'simulationId'>;

export class AlertWatch {
  readonly #broker: WatchBroker;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #eventsAtMs = 0;
  #isFirst = true;
  #isOver = false;
  #isReading = false;

  constructor(broker: WatchBroker) {
    this.#broker = broker;
  }

  start(): () => void {
    const now = (): void => void this.#look();
    // The summary of a move of the clock has its events.
    const moved = (): void => void this.#look(true);
    addEventListener('alerts', now);
    addEventListener('clock', moved);
    document.addEventListener('visibilitychange', now);
    now();
    return () => {
      this.#isOver = true;
      clearTimeout(this.#timer);
      removeEventListener('alerts', now);
      removeEventListener('clock', moved);
      document.removeEventListener('visibilitychange', now);
    };
  }

  async #look(isAfterMove = false): Promise<void> {
    if (document.visibilityState !== 'visible' || this.#isOver || this.#isReading) return;
    clearTimeout(this.#timer);
    this.#isReading = true;
    let nextMs = EVENTS_MS;
    try {
      const { data } = await this.#broker.call('listAlerts', { query: { limit: 200 } });
      if (data.some(({ status }) => status === 'ACTIVE')) nextMs = ALERTS_MS;
      this.#tellAlerts(data);
      if (isAfterMove || Date.now() >= this.#eventsAtMs) {
        await this.#tellEvents(isAfterMove);
        this.#eventsAtMs = Date.now() + EVENTS_MS - ALERTS_MS / 2;
        this.#isFirst = false;
      }
    } catch {
      // The banner shows the error; the next look follows.
    } finally {
      this.#isReading = false;
    }
    this.#lookIn(nextMs);
  }

  #lookIn(ms: number): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  #tellAlerts(alerts: readonly Alert[]): void {
    const { simulationId } = this.#broker;
    const { told, seen } = memoryOf(simulationId);
    const firings = newlyFired(alerts, new Set(told));
    setUnseen(newlyFired(alerts, new Set(seen)).length);
    if (firings.length === 0) return;
    remember(simulationId, { told: [...told, ...firings.map(keyOf)] });
    if (firings.length > FEW)
      announce(
        `${firings.length} alerts fired`,
        firings.map(({ symbol, firedPrice }) => `${symbol} ${price(firedPrice)}`).join(', '),
        'warning',
        'alerts',
      );
    else
      for (const alert of firings)
        announce(
          `${alert.symbol} ${alert.condition === 'ABOVE' ? 'rose' : 'fell'} to ${price(alert.firedPrice)}`,
          [`Alert: ${levelText(alert)}.`, alert.note ?? ''].join(' ').trim(),
          'warning',
          `alert ${keyOf(alert)}`,
        );
  }

  async #tellEvents(isAfterMove: boolean): Promise<void> {
    const { simulationId } = this.#broker;
    const [{ now }, { data: portfolios }] = await Promise.all([
      this.#broker.call('getMarketHours'),
      this.#broker.call('listPortfolios', { query: { limit: PORTFOLIOS } }),
    ]);
    const { until } = memoryOf(simulationId);
    const isQuiet = until === undefined || isAfterMove || Date.parse(now) < Date.parse(until);
    const lists = isQuiet
      ? []
      : await Promise.all(
          portfolios.map(({ portfolioId }) =>
            this.#broker.call('listActivities', {
              params: { portfolioId },
              query: { from: until, limit: ACTIVITIES },
            }),
          ),
        );
    remember(simulationId, { until: now });
    if (until === undefined) return;
    const found = wantedAfter(
      lists.flatMap(({ data }) => data),
      until,
      // The stream of orders tells of fills while the page is open.
      (kind) => isTold(kind) && (this.#isFirst || kind !== 'fills'),
    );
    if (this.#isFirst && found.length > 0)
      announce('Since your last visit', summaryOf(found, undefined), 'info', 'visit');
    else for (const activity of found.slice(0, FEW)) announceActivity(activity);
    if (!this.#isFirst && found.length > FEW)
      announce('More events', summaryOf(found.slice(FEW), undefined), 'info', 'more events');
  }
}

const announceActivity = (activity: Activity): void =>
  announce(
    kindOf(activity) === 'calls' ? 'Margin call' : 'Option',
    activityText(activity),
    kindOf(activity) === 'calls' ? 'error' : 'info',
    // The page of the portfolio announces it too.
    kindOf(activity) === 'calls' ? 'margin call' : activity.activityId,
  );
