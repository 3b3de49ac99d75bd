import type { Simulation } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { useClockControl } from './clock-control.ts';
import type { Marker } from './coming.ts';
import { distanceOf, stamp } from './scale.ts';

/** Events that are listed. */
const LISTED = 30;

/** Scheduled events, soonest first, each with a way there. */
export function ComingList({
  markers,
  nowMs,
  simulation,
  most = LISTED,
}: {
  readonly markers: readonly Marker[];
  readonly nowMs: number;
  readonly simulation: Simulation | undefined;
  readonly most?: number;
}) {
  const broker = useBroker();
  const { control, state } = useClockControl();
  const ahead = markers.filter(({ atMs }) => atMs > nowMs).slice(0, most);
  if (ahead.length === 0)
    return (
      <p class="dim">
        Nothing is scheduled: no position expires, no trade settles, and no corporate action or margin call is
        due.
      </p>
    );
  const canJump = simulation !== undefined && simulation.clock !== 'wall' && broker.controlsMarket;
  return (
    <ol class="plain coming">
      {ahead.map(({ key, atMs, kind, title, detail }) => (
        <li key={key}>
          <span class={`sign ${kind}`} aria-hidden="true">
            {kind === 'call' ? '!' : '●'}
          </span>
          <span>
            <strong>{title}</strong>
            {detail !== undefined && <span class="dim"> · {detail}</span>}
            <br />
            <span class="dim">
              <time dateTime={new Date(atMs).toISOString()}>{stamp(atMs)}</time>, {distanceOf(atMs, nowMs)}
            </span>
          </span>
          {canJump && (
            <button
              type="button"
              class="quiet"
              disabled={state.isMoving || state.isPlaying}
              aria-label={`Jump to: ${title}`}
              onClick={() =>
                void control.move(
                  { to: new Date(atMs).toISOString() },
                  simulation.clock === 'scaled' ? nowMs : undefined,
                )
              }
            >
              Jump
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}
