/** Margin requirements of an actual or hypothetical book (D43). */
import type { Static } from 'typebox';
import { callStatuses, callTypes, marginStrategies } from './enums.js';
import {
  anyText,
  byName,
  closed,
  instant,
  integer,
  list,
  listOf,
  namedChoice,
  nonNegative,
  number,
  optional,
  positive,
  priceBounds,
  quantityBounds,
  signed,
  simulatedTime,
  text,
  uuid,
} from './fields.js';
import { EngineTypeValue, MarginTypeValue, onlyForPortfolioMargin } from './portfolios.js';
import { paged } from './paging.js';
import { ListedDeliverable } from './simulation.js';
import { ruled } from './rules.js';

export const RequirementPosition = ruled(
  closed('RequirementPosition', {
    symbol: optional(text({ description: 'Equity, option in OSI form, or future.', examples: ['AAPL'] })),
    optionSymbol: optional(text({ description: 'Option in OSI form.', examples: ['AAPL260116C00150000'] })),
    quantity: signed(quantityBounds, { description: 'Quantity; negative = short.' }),
    averagePrice: optional(nonNegative(priceBounds)),
    deliverable: optional(integer(1, 1_000_000, { description: 'Shares per contract. Absent = as listed.' })),
    deliverables: optional(
      list(ListedDeliverable, { min: 1, max: 10 }, { description: 'All that a contract delivers.' }),
    ),
  }),
  (body, report) => {
    if (body.symbol === undefined && body.optionSymbol === undefined) {
      report.field('symbol', 'or optionSymbol must be given');
    }
    if (body.symbol !== undefined && body.optionSymbol !== undefined) {
      report.field('optionSymbol', 'should not exist together with symbol');
    }
    if (body.quantity === 0) report.field('quantity', 'must not be 0');
  },
);
export type RequirementPosition = Static<typeof RequirementPosition>;

export const RequirementsBody = ruled(
  closed('RequirementsBody', {
    marginType: MarginTypeValue,
    portfolioMarginEngineType: optional(EngineTypeValue),
    brokerId: optional(
      text({ description: 'Broker whose house rates apply; absent = the regulatory minimums.' }),
    ),
    positions: list(RequirementPosition, { min: 0, max: 1000 }),
    prices: byName(nonNegative(priceBounds), {
      description: 'Prices by symbol, options per share. Underlyings of options are required.',
      examples: [{ AAPL: 190.5, AAPL260116C00150000: 42.1 }],
    }),
    volatilities: optional(
      byName(positive({ maximum: 100, decimals: 8 }), {
        description: 'Annual volatility as a fraction, by underlying.',
      }),
    ),
    asOf: optional(
      simulatedTime({ description: 'Time of the valuation; absent = current time of the simulation.' }),
    ),
  }),
  (body, report) => {
    if (body.portfolioMarginEngineType !== undefined && body.marginType !== 'PORTFOLIO') {
      report.field('portfolioMarginEngineType', onlyForPortfolioMargin);
    }
  },
);
export type RequirementsBody = Static<typeof RequirementsBody>;

export const RequirementGroup = closed('RequirementGroup', {
  strategy: namedChoice('MarginStrategy', marginStrategies),
  underlying: anyText(),
  legs: listOf(closed('RequirementLeg', { symbol: anyText(), quantity: number() })),
  initial: number(),
  maintenance: number(),
  rule: anyText({ description: 'Rule that determines the requirement.' }),
});
export type RequirementGroup = Static<typeof RequirementGroup>;

/** One point of the risk array of portfolio margin. */
export const RequirementScenario = closed('RequirementScenario', {
  underlying: anyText({ description: 'The underlying or product group.' }),
  priceMove: number({ description: 'Price move as a fraction: −0.15 = down 15 %.' }),
  volatilityMove: optional(number({ description: 'Volatility move as a fraction of the volatility.' })),
  pnl: number(),
});
export type RequirementScenario = Static<typeof RequirementScenario>;

export const Requirements = closed('Requirements', {
  initialRequirement: number(),
  maintenanceRequirement: number(),
  fedRequirement: number(),
  houseRequirement: number(),
  groups: listOf(RequirementGroup),
  scenarios: optional(listOf(RequirementScenario)),
});
export type Requirements = Static<typeof Requirements>;

export const MarginCall = closed('MarginCall', {
  callId: uuid(),
  type: namedChoice('MarginCallType', callTypes),
  amount: number({ description: 'Deficit when the call was issued, dollars. Does not change.' }),
  amountDue: optional(
    number({
      description:
        'Current deficit of an open call, dollars, rounded up to the cent; at most `amount`. A deposit of this amount meets the call; a call for the trades of a day is met at the next close.',
    }),
  ),
  issuedAt: instant(),
  dueAt: instant(),
  status: namedChoice('MarginCallStatus', callStatuses),
});
export type MarginCall = Static<typeof MarginCall>;

export const MarginCallPage = paged('MarginCallPage', MarginCall, 'Margin calls, newest first.');
export type MarginCallPage = Static<typeof MarginCallPage>;

export const SmaEntry = closed('SmaEntry', {
  at: instant(),
  event: anyText({ description: 'Cause of the entry: an execution, a transfer, the close, …' }),
  amount: number(),
  balance: number(),
});
export type SmaEntry = Static<typeof SmaEntry>;

export const SmaPage = paged('SmaPage', SmaEntry, 'The special memorandum account, newest first.');
export type SmaPage = Static<typeof SmaPage>;

/** The requirement of a portfolio's positions, and the equity available for it (D121). */
export const PortfolioMargin = closed('PortfolioMargin', {
  ...Requirements.properties,
  marginEquity: number({ description: 'Equity that is compared with the requirements, dollars.' }),
  totalEquity: number(),
  maintenanceExcess: number({
    description: 'Excess over the requirement, dollars; negative = a margin call.',
  }),
  smaBalance: number(),
  calls: listOf(MarginCall, { description: 'Open margin calls.' }),
  accruedInterest: number({ description: 'Accrued charges that are not posted yet and not part of equity.' }),
  accruedBorrowFees: number(),
});
export type PortfolioMargin = Static<typeof PortfolioMargin>;
