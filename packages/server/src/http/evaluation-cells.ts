/** Preparation and results of the cells of evaluations (D210). */
import { calendarById } from '@sandpit/core';
import type { ImportBody } from '@sandpit/protocol';
import type { Task } from '../evaluations/assertion.js';
import type { CellWork } from '../evaluations/directory.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { cellResult } from './analytics/cell-result.js';
import { Answer } from './answer.js';
import type { Call } from './call.js';
import { fillSimulation } from './routes/fixtures.js';
import { importHandlers } from './routes/imports.js';
import { assertionTimes } from './translate/evaluation-tasks.js';
import { instantOf, isoOf } from './translate/instants.js';
import { priceNumber, priceOf } from './translate/numbers.js';

export const cellWork = (store: Store): CellWork => ({
  async prepare(simulation, { scenario, settings, tier, accountId }) {
    const { fixture } = scenario;
    const by = { tier };
    if (typeof fixture === 'string') {
      const filled = await fillSimulation(simulation, by, { name: fixture as never }, 201, undefined);
      if (filled.status >= 400) return { refused: messageOf(filled) };
      const { portfolios } = JSON.parse(filled.text) as {
        readonly portfolios: readonly { readonly portfolioId: string }[];
      };
      return { portfolioId: portfolios[0]?.portfolioId ?? '' };
    }
    const { result } = await simulation.submit<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by,
      accountId,
      accountType: 'INDIVIDUAL',
      ...settings.portfolio,
      proAccounts: Number.MAX_SAFE_INTEGER,
    });
    if ('code' in result) return { refused: 'the portfolio cannot be opened' };
    const { portfolioId } = result.terms;
    if (fixture === undefined) return { portfolioId };
    const imported = await importHandlers.importPositions({
      simulation,
      principal: { by },
      params: { portfolioId },
      query: {},
      body: shownImport(simulation, fixture.import),
      status: 201,
      pending: undefined,
    } as unknown as Call<'importPositions'>);
    return imported instanceof Answer && imported.status >= 400
      ? { refused: messageOf(imported) }
      : { portfolioId };
  },

  async result(simulation, { note, scenario, settings, last }) {
    const history = await simulation.past();
    const entry = store.registry.simulation(note.id);
    if (entry === undefined) throw new StoreUnavailable('the simulation of the cell is gone');
    const { mask } = simulation.feed;
    const calendar = calendarById(settings.market.calendar);
    const tasks = scenario.tasks as readonly Task[] | undefined;
    const found = await cellResult(
      { history, journal: store.journal },
      {
        simulationId: note.id,
        portfolioId: note.portfolioId,
        config: JSON.parse(entry.config) as KeptConfig,
        rules: simulation.brokerage.rules,
        ...(note.from !== undefined && { from: note.from }),
        endsAt: note.end,
        upTo: last,
      },
      tasks ?? [],
      {
        startsAt: settings.startsAt,
        endsAt: settings.endsAt,
        calendar,
        ...(mask !== undefined && {
          correspondence: {
            symbolOf: (symbol) => mask.masked(symbol),
            shownAt: (at) => mask.at(at),
            recordedAt: (at) => mask.dates.recorded(at),
          },
        }),
        instantsOf: assertionTimes(calendar),
      },
    );
    return { metrics: found.metrics, ...(tasks !== undefined && { tasks: found.tasks }) };
  },
});

/** Positions of the recording as a masked simulation shows them. */
function shownImport({ feed: { mask }, brokerage }: Simulation, body: ImportBody): ImportBody {
  if (mask === undefined || body.positions === undefined) return body;
  const acquired = (text: string): string => isoOf(mask.at(instantOf(text, brokerage.rules.calendar)));
  const lotOf = <Lot extends { price?: number; acquiredAt?: string }>(symbol: string, lot: Lot): Lot => ({
    ...lot,
    ...(lot.price !== undefined && { price: priceNumber(mask.price(symbol, priceOf(lot.price))) }),
    ...(lot.acquiredAt !== undefined && { acquiredAt: acquired(lot.acquiredAt) }),
  });
  return {
    ...body,
    positions: body.positions.map((position) => ({
      ...lotOf(position.symbol, position),
      symbol: mask.masked(position.symbol),
      ...(position.lots !== undefined && {
        lots: position.lots.map((lot) => lotOf(position.symbol, lot)),
      }),
    })),
  };
}

/** The message of a refusal, in one line. */
function messageOf({ text }: Answer): string {
  const { message } = JSON.parse(text) as { readonly message: string | readonly string[] };
  return typeof message === 'string' ? message : message.join('; ');
}
