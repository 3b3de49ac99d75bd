import type { Simulation } from '../../engine/simulation/simulation.js';
import { type Answer, refuseCoded } from '../answer.js';
import { type Call, execute, type Handlers } from '../call.js';
import { outcomeMatchOf, scriptOf, shownOutcome } from '../translate/outcomes.js';
import { pageOfAll } from '../translate/pages.js';
import { answerTo } from '../translate/rejections.js';

type OutcomeHandlers = Pick<Handlers, 'createOutcome' | 'listOutcomes' | 'deleteOutcome' | 'deleteOutcomes'>;

/** Scripted outcomes of the orders of a simulation (D175). */
export const outcomeHandlers: OutcomeHandlers = {
  createOutcome(call) {
    const { simulation, principal, body } = call;
    const refused = unlessScripted(call);
    if (refused !== undefined) return refused;
    const { calendar } = simulation.brokerage.rules;
    const now = simulation.now();
    return execute<'SetOutcome'>(
      call,
      {
        type: 'SetOutcome',
        by: principal.by,
        match: outcomeMatchOf(body.match, calendar, now),
        skip: body.skip ?? 0,
        times: body.times ?? 1,
        script: scriptOf(body.outcome, now),
      },
      ({ result }) =>
        'code' in result ? answerTo(result) : shownOutcome(simulation.brokerage.state.ids, result),
    );
  },

  listOutcomes(call) {
    const { query, principal } = call;
    return (
      unlessScripted(call) ??
      call.simulation.read([principal], ({ state }) =>
        pageOfAll(
          [...state.outcomes.values()],
          query,
          ({ number }) => String(number),
          (rule) => shownOutcome(state.ids, rule),
        ),
      )
    );
  },

  deleteOutcome(call) {
    const { outcomeId } = call.params;
    return (
      unlessScripted(call) ??
      execute<'DeleteOutcomes'>(
        call,
        { type: 'DeleteOutcomes', by: call.principal.by, outcomeId },
        ({ result }) => ('code' in result ? answerTo(result) : { outcomeId, message: 'Outcome deleted' }),
      )
    );
  },

  deleteOutcomes: (call) =>
    unlessScripted(call) ??
    execute<'DeleteOutcomes'>(call, { type: 'DeleteOutcomes', by: call.principal.by }, ({ result }) =>
      'code' in result ? answerTo(result) : { ...result, message: 'Outcomes deleted' },
    ),
};

/** A `main` can be scripted only if the server's settings allow it. */
function unlessScripted({
  simulation,
  principal,
}: Pick<Call, 'simulation' | 'principal'>): Answer | undefined {
  if (!isMain(simulation) || simulation.brokerage.rules.scripts === true) return undefined;
  return refuseCoded(
    'FEATURE_NOT_AVAILABLE',
    'Outcomes in main require the server setting SCRIPTED_ORDERS=on; create a simulation to script orders',
    { currentTier: principal.tier },
  );
}

const isMain = (simulation: Simulation): boolean => simulation.market !== simulation;
