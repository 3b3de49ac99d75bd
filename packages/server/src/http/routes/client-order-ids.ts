import { duplicateClientOrderId } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation.js';
import type { Answer } from '../answer.js';
import { answerTo } from '../translate/rejections.js';
import { ownPortfolio } from './owned.js';

interface Named {
  readonly portfolioId: string;
  readonly clientOrderId: string;
}

/**
 * Client order ids are unique among all orders of a portfolio (D24). The brokerage knows those of open orders, history all that are
 * durable; those in between are waited for.
 */
export class ClientOrderIds {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** Places an order unless the id has been used: then the answer names the order that has it. */
  async once<Placed>(
    simulation: Simulation,
    tenantId: string,
    named: Named,
    place: () => Promise<Placed>,
  ): Promise<Placed | Answer> {
    const { portfolioId, clientOrderId } = named;
    const key = JSON.stringify([simulation.id, portfolioId, clientOrderId]);
    for (let other = this.#underWay.get(key); other !== undefined; other = this.#underWay.get(key))
      await other;
    const used = this.existing(simulation, tenantId, named);
    if (used !== undefined) return answerTo(duplicateClientOrderId(used));
    const placing = place();
    const over = placing.then(
      () => undefined,
      () => undefined,
    );
    this.#underWay.set(key, over);
    try {
      return await placing;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** The order of the tenant's portfolio that has this id. */
  existing(
    simulation: Simulation,
    tenantId: string,
    { portfolioId, clientOrderId }: Named,
  ): string | undefined {
    if (ownPortfolio(simulation.brokerage, tenantId, portfolioId) === undefined) return undefined;
    return simulation.history.orderIdByClientOrderId(simulation.id, portfolioId, clientOrderId);
  }
}
