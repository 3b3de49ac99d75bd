import { type Static, Type } from 'typebox';
import { AccountTypeValue, isRetirement, PortfolioTypeValue, retirementIsCash } from './accounts.js';
import {
  currentMarginTypes,
  dayTradeRegimes,
  fillModels,
  marginTypes,
  portfolioMarginEngineTypes,
} from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  date,
  exactly,
  flag,
  instant,
  listOf,
  moneyBounds,
  namedChoice,
  number,
  optional,
  parameters,
  positive,
  signed,
  text,
  uuid,
  nameText,
} from './fields.js';
import { paged, pageFields } from './paging.js';
import { type Rule, ruled } from './rules.js';

export const MarginTypeValue = namedChoice('MarginType', marginTypes);
export const EngineTypeValue = namedChoice('PortfolioMarginEngineType', portfolioMarginEngineTypes);
/** Names of portfolios need not be unique (D257). */
const portfolioName = () => nameText({ maxLength: 80 });

export const FillModelValue = namedChoice('FillModel', fillModels, {
  description: 'Fill model of the portfolio.',
});

export const onlyForPortfolioMargin = 'is only allowed for PORTFOLIO margin';

/** Fields of the body that opens a portfolio. */
export const portfolioToOpen = {
  accountId: uuid({ description: 'Account; created if it does not exist.' }),
  portfolioType: PortfolioTypeValue,
  accountType: AccountTypeValue,
  brokerId: text({ description: 'A broker configuration.', examples: ['default'] }),
  marginType: optional(MarginTypeValue),
  portfolioMarginEngineType: optional(EngineTypeValue),
  initialCash: optional(
    positive(moneyBounds, {
      description: 'Initial cash in dollars; absent = the server setting, 100,000 by default.',
    }),
  ),
  name: optional(portfolioName()),
  fillModel: optional(FillModelValue),
};

const CreatePortfolioFields = closed('CreatePortfolioBody', portfolioToOpen, {
  examples: [
    {
      accountId: '0192f0c0-11aa-7a01-b2c3-5d6e7f809102',
      portfolioType: 'MARGIN',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      marginType: 'REG_T',
    },
  ],
});

/** Checks across the fields of a portfolio that is to be opened. */
export const reportPortfolio: Rule<Omit<Static<typeof CreatePortfolioFields>, 'accountId'>> = (
  body,
  report,
) => {
  if (isRetirement(body.accountType) && body.portfolioType === 'MARGIN') {
    report.sentence('portfolioType', retirementIsCash);
  }
  if (body.portfolioType === 'CASH' && body.marginType !== undefined) {
    report.field('marginType', 'is not allowed for CASH portfolios');
  }
  if (body.portfolioMarginEngineType !== undefined) {
    if (body.portfolioType === 'CASH') {
      report.field('portfolioMarginEngineType', 'is not allowed for CASH portfolios');
    } else if (body.marginType !== 'PORTFOLIO') {
      report.field('portfolioMarginEngineType', onlyForPortfolioMargin);
    }
  }
};

export const CreatePortfolioBody = ruled(CreatePortfolioFields, reportPortfolio);
export type CreatePortfolioBody = Static<typeof CreatePortfolioBody>;

const identity = {
  portfolioId: uuid(),
  accountId: uuid(),
  portfolioType: PortfolioTypeValue,
  accountType: AccountTypeValue,
  brokerId: anyText(),
  marginType: optional(MarginTypeValue),
  portfolioMarginEngineType: optional(EngineTypeValue),
  name: optional(anyText({ description: 'Name of the portfolio, or of its account if it has none.' })),
  fillModel: optional(FillModelValue),
  dayTradeRegime: optional(namedChoice('DayTradeRegime', dayTradeRegimes)),
};

/** Absent for open portfolios (D162). */
const status = { status: optional(choice(['CLOSED'])) };

const balances = {
  settledCash: number(),
  pendingCash: number({ description: 'Not settled yet.' }),
  reservedCash: number({ description: 'Reserved for open orders; part of equity.' }),
  longMarketValue: number(),
  shortMarketValue: number({ description: 'Market value of short positions as a positive number, dollars.' }),
  totalEquity: number({
    description: 'settledCash + pendingCash + reservedCash + longMarketValue − shortMarketValue − marginLoan',
  }),
  marginLoan: number({ description: 'Margin loan, dollars; never negative.' }),
};

const createdRequirements = {
  maintenanceMarginRequirement: number(),
  initialMarginRequirement: number(),
};

const watchedRequirements = {
  smaBalance: number(),
  fedRequirement: number(),
  houseRequirement: number(),
};

const power = {
  overnightBuyingPower: number(),
  dayTradeBuyingPower: number(),
};

const times = { createdAt: instant(), updatedAt: instant() };

/** All fields of the resource, in the order of contract 2.1. */
export const portfolioFields = {
  ...identity,
  ...status,
  ...balances,
  ...createdRequirements,
  ...watchedRequirements,
  ...power,
  marginCallActive: flag(),
  ...times,
};

/** The answer of the broker switch: every field (D51). */
export const Portfolio = closed('Portfolio', portfolioFields, { description: 'A portfolio, all fields.' });
export type Portfolio = Static<typeof Portfolio>;

/** The answer of a create: without the fields that only the get response has. */
export const CreatedPortfolio = closed(
  'CreatedPortfolio',
  { ...identity, ...balances, ...createdRequirements, ...power, ...times },
  { description: 'A portfolio in the response to its creation.' },
);
export type CreatedPortfolio = Static<typeof CreatedPortfolio>;

/** The answer of a get: without the fields that only the create response has. */
export const PortfolioDetail = closed(
  'PortfolioDetail',
  {
    ...identity,
    ...status,
    ...balances,
    ...watchedRequirements,
    ...power,
    marginCallActive: flag(),
    ...times,
  },
  { description: 'Current state of a portfolio.' },
);
export type PortfolioDetail = Static<typeof PortfolioDetail>;

const portfolioSummaryFields = {
  portfolioId: uuid(),
  accountId: uuid(),
  portfolioType: PortfolioTypeValue,
  accountType: AccountTypeValue,
  brokerId: anyText(),
  totalEquity: number(),
  settledCash: number(),
};

export const PortfolioSummary = closed('PortfolioSummary', portfolioSummaryFields);
export type PortfolioSummary = Static<typeof PortfolioSummary>;

export const PortfolioSummaries = listOf(PortfolioSummary);
export type PortfolioSummaries = Static<typeof PortfolioSummaries>;

/** Selects portfolios: closed ones are marked by their `status`. */
export const PortfolioQuery = parameters({
  ...pageFields,
  status: choice(['OPEN', 'CLOSED', 'ALL'], {
    default: 'OPEN',
    description: 'Open portfolios, closed ones, or both.',
  }),
  accountId: optional(uuid({ description: 'Only portfolios of this account.' })),
  brokerId: optional(text({ description: 'Only portfolios with this broker configuration.' })),
});
export type PortfolioQuery = Static<typeof PortfolioQuery>;

export const ListedPortfolio = closed('ListedPortfolio', {
  ...portfolioSummaryFields,
  status: optional(exactly('CLOSED', { description: 'Present for closed portfolios only.' })),
});
export type ListedPortfolio = Static<typeof ListedPortfolio>;

export const PortfolioPage = paged('PortfolioPage', ListedPortfolio, 'Portfolios, newest first.');
export type PortfolioPage = Static<typeof PortfolioPage>;

export const UpdatePortfolioBody = closed('UpdatePortfolioBody', {
  name: Type.Union([portfolioName(), Type.Null()], {
    description: 'The new name; null removes it, and the portfolio shows the name of its account.',
    examples: ['Momentum'],
  }),
});
export type UpdatePortfolioBody = Static<typeof UpdatePortfolioBody>;

export const SwitchBrokerBody = closed('SwitchBrokerBody', {
  brokerId: text({ description: 'The configuration to switch to.', examples: ['default'] }),
});
export type SwitchBrokerBody = Static<typeof SwitchBrokerBody>;

export const MarginEligibility = closed('MarginEligibility', {
  eligible: flag(),
  totalEquity: number(),
  requiredEquity: number(),
  reasons: listOf(anyText(), { description: 'Each unmet condition; empty when eligible.' }),
  currentMarginType: choice(currentMarginTypes),
  availableEngines: optional(listOf(EngineTypeValue, { description: 'Present when eligible.' })),
});
export type MarginEligibility = Static<typeof MarginEligibility>;

export const MarginUpgradeBody = ruled(
  closed('MarginUpgradeBody', {
    marginType: MarginTypeValue,
    portfolioMarginEngineType: optional(EngineTypeValue),
    addPromotionalCash: optional(
      flag({ description: 'Adds 150,000 dollars of demonstration cash, once per portfolio.' }),
    ),
  }),
  (body, report) => {
    if (body.portfolioMarginEngineType !== undefined && body.marginType !== 'PORTFOLIO') {
      report.field('portfolioMarginEngineType', onlyForPortfolioMargin);
    }
  },
);
export type MarginUpgradeBody = Static<typeof MarginUpgradeBody>;

export const MarginUpgradeResult = closed('MarginUpgradeResult', {
  success: flag(),
  portfolio: closed('UpgradedPortfolio', {
    portfolioId: uuid(),
    marginType: MarginTypeValue,
    portfolioMarginEngineType: optional(EngineTypeValue),
    settledCash: number(),
  }),
  message: anyText(),
  promotionalCashAdded: number(),
});
export type MarginUpgradeResult = Static<typeof MarginUpgradeResult>;

export const ResetResult = closed('ResetResult', {
  success: flag(),
  portfolioId: uuid(),
  message: anyText(),
  resetSummary: closed('ResetSummary', {
    positionsClosed: count(),
    ordersCancelled: count(),
    newCashBalance: number(),
    oldCashBalance: number(),
    realizedPnL: number(),
  }),
});
export type ResetResult = Static<typeof ResetResult>;

export const ClosedPortfolio = closed('ClosedPortfolio', { portfolioId: uuid(), message: anyText() });
export type ClosedPortfolio = Static<typeof ClosedPortfolio>;

/** Cash and deliveries of one day from a portfolio's trades, dividends and variation. */
export const Settlement = closed('Settlement', {
  date: date({ description: 'At 09:00 New York of this day.' }),
  cash: number({ description: 'Amount received; negative = delivered or paid.' }),
  deliveries: listOf(
    closed('Delivery', {
      symbol: anyText(),
      quantity: number({ description: 'Amount received; negative = delivered or paid.' }),
    }),
  ),
});
export type Settlement = Static<typeof Settlement>;

export const Settlements = listOf(Settlement, {
  description: 'Unsettled cash and deliveries, by settlement date.',
});
export type Settlements = Static<typeof Settlements>;

/** Cash in (positive) or out (negative), D63. */
export const TransferBody = ruled(
  closed('TransferBody', {
    amount: signed(moneyBounds, { description: 'Dollars; negative = out.', examples: [5000] }),
    reason: optional(text()),
  }),
  (body, report) => {
    if (body.amount === 0) report.field('amount', 'must not be 0');
  },
);
export type TransferBody = Static<typeof TransferBody>;
