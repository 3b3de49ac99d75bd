import type { Money } from '../values/money.js';

/** The caps of an agent's token. */
export interface AgentCaps {
  /** Symbols it may trade, in any case; an option is also allowed by its underlying. */
  readonly symbols?: readonly string[];
  /** Limit of one opening order's notional. */
  readonly maxOrderNotional?: Money;
  /** Limit of the total notional of a New York day's opening orders. */
  readonly maxNotional?: Money;
  /** Loss since the previous close at which a portfolio can no longer open positions. */
  readonly maxDailyLoss?: Money;
}

/** An agent whose orders are subject to caps: those of the token that sent the command. */
export interface CappedAgent {
  readonly agentId: string;
  readonly caps: AgentCaps;
}

/** The refusal of a command by a cap, with its figures. */
export interface CapExceeded {
  readonly code: 'CAP_EXCEEDED';
  readonly message: string;
  readonly cap: keyof AgentCaps;
  readonly allowed?: Money;
  /** Amount that would still pass. */
  readonly left?: Money;
  /** Notional of the order; for a loss cap the loss so far. */
  readonly asked?: Money;
  readonly symbols?: readonly string[];
}
