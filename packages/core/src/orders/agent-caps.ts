import type { Money } from '../values/money.js';

/** The caps of an agent's token. */
export interface AgentCaps {
  /** Symbols it may trade, in any case; of options their underlying will do. */
  readonly symbols?: readonly string[];
  /** The most that one opening order may be about. */
  readonly maxOrderNotional?: Money;
  /** The most that the opening orders of a New York day may be about together. */
  readonly maxNotional?: Money;
  /** A portfolio this far below the equity of its previous close opens nothing more. */
  readonly maxDailyLoss?: Money;
}

/** An agent whose orders are held to caps: those of the token that came with the command. */
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
  /** What would pass. */
  readonly left?: Money;
  /** What the order comes to; of a loss what it has come to. */
  readonly asked?: Money;
  readonly symbols?: readonly string[];
}
