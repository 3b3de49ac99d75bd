import type { OrderStatus } from './order.js';

/** Every legal transition of an order (contract section 3, D18–D20). Any other is a broken invariant. */
export const TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  CREATED: ['RESERVING', 'ACTIVE', 'PENDING_MARKET_OPEN', 'CANCELED', 'REJECTED'],
  PENDING: ['PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED', 'ERROR'],
  PENDING_MARKET_OPEN: ['PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED'],
  RESERVING: ['ACTIVE', 'REJECTED', 'CANCELED'],
  ACTIVE: ['ACTIVE', 'FILLED', 'CANCELING', 'CANCELED', 'REJECTED'],
  CANCELING: ['CANCELING', 'RESERVING', 'ACTIVE', 'FILLED', 'CANCELED', 'REJECTED', 'ERROR'],
  FILLED: [],
  CANCELED: [],
  REJECTED: [],
  ERROR: [],
};

/** True when an order may go from one status to another; `through` RESERVING if an event makes both steps in one. */
export const isTransitionAllowed = (from: OrderStatus, to: OrderStatus, through?: 'RESERVING'): boolean =>
  from === to ||
  (through === undefined
    ? TRANSITIONS[from].includes(to)
    : TRANSITIONS[from].includes(through) && TRANSITIONS[through].includes(to));

export const isTerminal = (status: OrderStatus): boolean =>
  status === 'FILLED' || status === 'CANCELED' || status === 'REJECTED' || status === 'ERROR';

/** Statuses in which a user may change or cancel an order (D20). */
export const isUpdatable = (status: OrderStatus): boolean =>
  status === 'PENDING' || status === 'PENDING_MARKET_OPEN' || status === 'ACTIVE';
