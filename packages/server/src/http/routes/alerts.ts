import type { Alert, Outcome } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { type Answer, refuse } from '../answer.js';
import { execute, type Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { shownAlert } from '../translate/alerts.js';
import { priceOf } from '../translate/numbers.js';
import { pageOfAll } from '../translate/pages.js';
import { answerTo } from '../translate/rejections.js';

type AlertHandlers = Pick<
  Handlers,
  'createAlert' | 'listAlerts' | 'getAlert' | 'updateAlert' | 'deleteAlert'
>;

const ALERT_NOT_FOUND = refuse(404, 'Alert not found');

/** Price alerts of a simulation (D281). */
export const alertHandlers: AlertHandlers = {
  createAlert(call) {
    const { simulation, principal, body } = call;
    const { condition, price, note } = body;
    const terms = {
      symbol: symbolIn(simulation, body.symbol),
      condition,
      price: priceOf(price),
      ...(note !== undefined && { note }),
    };
    return execute<'SetAlert'>(call, { type: 'SetAlert', by: principal.by, terms }, (outcome) =>
      answerWith(simulation, outcome),
    );
  },

  listAlerts: ({ simulation, principal, query }) =>
    simulation.read([principal], ({ state }) =>
      pageOfAll(
        [...state.alerts.values()]
          .reverse()
          .filter(({ status }) => query.status === undefined || status === query.status),
        query,
        ({ number }) => String(number),
        (alert) => shownAlert(state.ids, alert),
      ),
    ),

  getAlert: ({ simulation, principal, params }) =>
    simulation.read([principal], ({ state }) => {
      const alert = state.alerts.get(state.ids.numberOf('ALERT', params.alertId) ?? 0);
      return alert === undefined ? ALERT_NOT_FOUND : shownAlert(state.ids, alert);
    }),

  updateAlert(call) {
    const { simulation, principal, params, body } = call;
    const { condition, price, note } = body;
    return execute<'UpdateAlert'>(
      call,
      {
        type: 'UpdateAlert',
        by: principal.by,
        alertId: params.alertId,
        ...(condition !== undefined && { condition }),
        ...(price !== undefined && { price: priceOf(price) }),
        ...(note !== undefined && { note }),
      },
      (outcome) => answerWith(simulation, outcome),
    );
  },

  deleteAlert(call) {
    const { alertId } = call.params;
    return execute<'DeleteAlert'>(
      call,
      { type: 'DeleteAlert', by: call.principal.by, alertId },
      ({ result }) => ('code' in result ? answerTo(result) : { alertId, message: 'Alert deleted' }),
    );
  },
};

const answerWith = (
  { brokerage }: Simulation,
  { result }: Outcome<'SetAlert'> | Outcome<'UpdateAlert'>,
): Answer | ReturnType<typeof shownAlert> =>
  'code' in result ? answerTo(result) : shownAlert(brokerage.state.ids, result satisfies Alert);
