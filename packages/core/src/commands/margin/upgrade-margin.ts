import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import { MINIMUM_MARGIN_EQUITY } from '../../margin/buying-power.js';
import { isRestricting } from '../../margin/margin-account.js';
import type { MarginEngine } from '../../margin/margin-type.js';
import type { Portfolio, PortfolioSettings } from '../../portfolios/portfolio.js';
import { valuationOf, worthOf } from '../../portfolios/valuation.js';
import type { Valuation } from '../../portfolios/valuation.js';
import type { ValuationSource } from '../../portfolios/book-sums.js';
import type { BrokerConfiguration } from '../../brokers/broker.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import { portfolioToChange } from '../portfolios/portfolios.js';
import { postAccrualsOf } from './interest.js';
import { isMet, meetCallsNow } from './meet-calls.js';
import { rereserveOpenOrders, requirementOfOpenOrders } from '../orders/reserve.js';
import { secureAllOptions } from '../options/secure-options.js';
import { changeSma, keepsSma, restartSma } from './sma.js';

/** Cash that a margin upgrade adds on request (contract section 8). */
export const PROMOTIONAL_CASH = Money.ofDollars(150_000);

const ENGINES: readonly MarginEngine[] = ['SIMPLE', 'SPAN', 'TIMS'];

export interface MarginEligibility {
  readonly eligible: boolean;
  readonly totalEquity: Money;
  readonly requiredEquity: Money;
  readonly reasons: readonly string[];
  readonly currentMarginType: 'NONE' | 'REG_T' | 'PORTFOLIO';
  readonly availableEngines: readonly MarginEngine[];
}

/** To the cent, as messages show money (D137). */
const dollars = (money: Money): string => {
  const [whole = '', decimals = ''] = Money.format(Money.toCents(money)).split('.');
  return `$${whole}.${decimals.padEnd(2, '0')}`;
};

/** Eligibility of a portfolio for portfolio margin (D14), with the reasons against it. `extra` is cash about to be added. */
export function marginEligibility(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
  requiredEquity: Money,
  extra: Money = Money.zero,
): MarginEligibility {
  const value = valuationOf(portfolio, source, broker);
  const totalEquity = Money.add(value.totalEquity, extra);
  const reasons: string[] = [];
  if (totalEquity < requiredEquity) {
    reasons.push(
      `Total equity of at least ${dollars(requiredEquity)} is required; the portfolio has ${dollars(totalEquity)}`,
    );
  }
  if (portfolio.terms.accountType !== 'INDIVIDUAL') reasons.push('Retirement accounts cannot use margin');
  if (isCalled(portfolio, value, extra)) reasons.push('The portfolio has an open margin call');
  const eligible = reasons.length === 0;
  return {
    eligible,
    totalEquity,
    requiredEquity,
    reasons,
    currentMarginType: portfolio.settings.marginType ?? 'NONE',
    availableEngines: eligible ? ENGINES : [],
  };
}

/** True when a portfolio is in a call that `extra` cash would not meet. */
const isCalled = (portfolio: Portfolio, value: Valuation, extra: Money): boolean =>
  value.marginCallActive &&
  (value.maintenanceExcess + extra < 0 ||
    portfolio.margin.calls.some((call) => isRestricting(call) && !isMet(call, portfolio, value, extra)));

export interface MarginUpgrade {
  readonly portfolio: Portfolio;
  readonly promotionalCashAdded: Money;
}

/** Changes the margin type (D15): to PORTFOLIO when eligible, from CASH to MARGIN with $2,000 of equity, down to REG_T without a call. */
export function upgradeMargin(
  d: Decision,
  command: Extract<Command, { type: 'UpgradeMargin' }>,
): MarginUpgrade | Rejection {
  const portfolio = portfolioToChange(d, command, 'the margin type cannot be changed');
  if ('code' in portfolio) return portfolio;
  if (portfolio.terms.accountType !== 'INDIVIDUAL') {
    return { code: 'INVALID', messages: ['IRA and ROTH_IRA accounts must use CASH portfolios'] };
  }
  const promotional =
    command.addPromotionalCash && !portfolio.promotionalCashAdded ? PROMOTIONAL_CASH : Money.zero;
  const refused = upgradeProblem(d, portfolio, command, promotional);
  if (refused !== undefined) return refused;
  const settings: PortfolioSettings = {
    portfolioType: 'MARGIN',
    brokerId: portfolio.settings.brokerId,
    marginType: command.marginType,
    ...(command.marginType === 'PORTFOLIO' && {
      portfolioMarginEngineType:
        command.portfolioMarginEngineType ?? portfolio.settings.portfolioMarginEngineType ?? 'TIMS',
    }),
  };
  const { portfolioId } = command;
  const hasChanged = keepsSma(portfolio.settings) !== keepsSma(settings);
  postAccrualsOf(d, portfolio);
  d.emit({
    type: 'PortfolioChanged',
    portfolioId,
    change: 'MARGIN',
    settings,
    promotionalCashAdded: portfolio.promotionalCashAdded || promotional > 0,
    at: d.at,
  });
  secureAllOptions(d, portfolio);
  rereserveOpenOrders(d, portfolio);
  if (hasChanged) restartSma(d, portfolio);
  if (promotional > 0) {
    const entry = d.capitalEntry('PROMOTIONAL_CASH', promotional);
    const equityBefore = worthOf(portfolio, d).totalEquity;
    d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry], equityBefore });
    changeSma(d, portfolio, 'PROMOTIONAL_CASH', promotional);
  }
  meetCallsNow(d, portfolio);
  return { portfolio, promotionalCashAdded: promotional };
}

function upgradeProblem(
  d: Decision,
  portfolio: Portfolio,
  command: Extract<Command, { type: 'UpgradeMargin' }>,
  promotional: Money,
): Rejection | undefined {
  const broker = d.broker(portfolio);
  if (command.marginType === 'PORTFOLIO') {
    if (portfolio.settings.marginType === 'PORTFOLIO') return undefined;
    const { eligible, reasons } = marginEligibility(
      portfolio,
      d,
      broker,
      d.rules.portfolioMarginEquity,
      promotional,
    );
    return eligible ? undefined : { code: 'MARGIN_NOT_ELIGIBLE', message: reasons.join('; '), reasons };
  }
  const asRegT: Portfolio = {
    ...portfolio,
    settings: { ...portfolio.settings, portfolioType: 'MARGIN', marginType: 'REG_T' },
  };
  const value = valuationOf(asRegT, d, broker);
  if (portfolio.settings.portfolioType === 'CASH') {
    const equity = Money.add(value.totalEquity, promotional);
    if (equity >= MINIMUM_MARGIN_EQUITY) return undefined;
    const reasons = [
      `Total equity of at least ${dollars(MINIMUM_MARGIN_EQUITY)} is required; the portfolio has ${dollars(equity)}`,
    ];
    return { code: 'MARGIN_NOT_ELIGIBLE', message: reasons.join('; '), reasons };
  }
  return portfolio.settings.marginType === 'PORTFOLIO'
    ? downgradeProblem(d, asRegT, value, promotional)
    : undefined;
}

/** Refusal of a downgrade if positions would be in a call (D15, D124), or if open orders would exceed the available margin (D108). */
function downgradeProblem(
  d: Decision,
  asRegT: Portfolio,
  { marginEquity, fedRequirement, maintenanceExcess }: Valuation,
  promotional: Money,
): Rejection | undefined {
  if (maintenanceExcess + promotional < 0)
    return { code: 'CONFLICT', message: 'Under REG_T the portfolio would have a margin call' };
  if (d.broker(asRegT).dayTradingLeverage === true) return undefined;
  const { initial, maintenance } = requirementOfOpenOrders(d, asRegT);
  const lacks =
    (initial > 0 && marginEquity - fedRequirement + promotional < initial) ||
    (maintenance > 0 && maintenanceExcess + promotional < maintenance);
  return lacks
    ? { code: 'CONFLICT', message: 'Under REG_T the open orders would take more than the portfolio has' }
    : undefined;
}
