import { duplicateClientOrderId, PORTFOLIO_CLOSED } from '@sandpit/core';
import type { Brokerage, Command, Event, Rejection } from '@sandpit/core';
import type { History } from '../store/history.js';

/**
 * What has left the brokerage and is not in history yet, where a decision depends on it: the brokerage knows what is open, history
 * what is durable, and this what is in between.
 */
export class UnderWay {
  readonly #simulationId: string;
  readonly #brokerage: Brokerage;
  readonly #history: History;
  /** Client order ids of records that are on their way to the store, with the numbers of their orders. */
  readonly #clientOrderIds = new Map<string, number>();
  /** Portfolios that such records close, with their tenants. */
  readonly #closures = new Map<string, string>();

  constructor(simulationId: string, brokerage: Brokerage, history: History) {
    this.#simulationId = simulationId;
    this.#brokerage = brokerage;
    this.#history = history;
  }

  /** Why a command is refused for what is over, if it is. */
  refusal(command: Command): Rejection | undefined {
    return this.#closedBefore(command) ?? this.#usedBefore(command);
  }

  /** Takes note of what a record of this command ends. `appended` settles with the record. */
  note(command: Command, first: Event | undefined, appended: Promise<void>): void {
    if (first?.type === 'OrderAccepted' && first.request.clientOrderId !== undefined) {
      const key = keyOf(first.request.portfolioId, first.request.clientOrderId);
      this.#clientOrderIds.set(key, first.number);
      // A record that the store could not promise may still become durable: its id stays taken.
      appended.then(() => this.#clientOrderIds.delete(key)).catch(() => undefined);
    }
    if (first?.type === 'PortfolioClosed' && 'by' in command) {
      const { portfolioId } = first;
      this.#closures.set(portfolioId, command.by.tenantId);
      appended.then(() => this.#closures.delete(portfolioId)).catch(() => undefined);
    }
  }

  /** The refusal of what would change a portfolio that is closed (D142). */
  #closedBefore(command: Command): Rejection | undefined {
    const named = command.type === 'SubmitOrder' ? command.order : command;
    if (!('by' in command && 'portfolioId' in named)) return undefined;
    const { portfolioId } = named;
    if (this.#brokerage.state.portfolios.has(portfolioId)) return undefined;
    const tenantId =
      this.#closures.get(portfolioId) ??
      this.#history.closedPortfolio(this.#simulationId, portfolioId)?.tenantId;
    return tenantId === command.by.tenantId ? PORTFOLIO_CLOSED : undefined;
  }

  /** The refusal of a client order id that another order of the portfolio has used (D24). */
  #usedBefore(command: Command): Rejection | undefined {
    if (command.type !== 'SubmitOrder' || command.order.clientOrderId === undefined) return undefined;
    const { portfolioId, clientOrderId } = command.order;
    const portfolio = this.#brokerage.state.portfolios.get(portfolioId);
    if (portfolio?.terms.tenantId !== command.by.tenantId) return undefined;
    const order =
      this.#clientOrderIds.get(keyOf(portfolioId, clientOrderId)) ??
      this.#history.orderByClientOrderId(this.#simulationId, portfolioId, clientOrderId);
    return order === undefined ? undefined : duplicateClientOrderId(order);
  }
}

const keyOf = (portfolioId: string, clientOrderId: string): string => `${portfolioId}/${clientOrderId}`;
