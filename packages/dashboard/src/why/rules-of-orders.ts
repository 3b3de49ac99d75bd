/** The page of the rule behind a refusal, an order, a fill, or a margin requirement. */
import type {
  CancelReason,
  ErrorCode,
  Execution,
  Order,
  PortfolioDetail,
  Requirements,
} from '@sandpit/protocol';
import { type RuleName, ruleNamed, type RulePage } from './rule-pages.ts';

const OF_CODES: Partial<Record<ErrorCode, RuleName>> = {
  MARKET_CLOSED: 'calendar',
  TRADING_HALTED: 'halts',
  AUCTION_CLOSED: 'auctions',
  INSUFFICIENT_POSITION: 'positions',
  UNKNOWN_SYMBOL: 'instruments',
  INSTRUMENT_NOT_TRADABLE: 'instruments',
  NOT_SHORTABLE: 'shortSelling',
  POSITION_CONFLICT: 'positions',
  OPTION_LEVEL: 'optionMargin',
  DAY_TRADE_RESTRICTED: 'dayTrades',
  MARGIN_CALL_ACTIVE: 'calls',
  MARGIN_NOT_ELIGIBLE: 'portfolioMargin',
  ACCOUNT_FROZEN: 'settlement',
  BROKER_RESTRICTION: 'brokers',
  ORDER_NOT_UPDATABLE: 'orderStatus',
  PORTFOLIO_NOT_EMPTY: 'accounts',
  STALE_MARKET_DATA: 'marketData',
};

/** The rule behind an error code; without a rule of its own, the section of the code in the list of errors. */
export function ruleOfCode(code: string, details: object = {}): RulePage | undefined {
  if (!/^[A-Z_]+$/.test(code) || code === 'INVALID') return undefined;
  if (code === 'INSUFFICIENT_FUNDS')
    return ruleNamed('requiredBuyingPower' in details ? 'regT' : 'reservations');
  const name = OF_CODES[code as ErrorCode];
  return name === undefined
    ? { path: `reference/errors#${code.toLowerCase()}`, title: `Error ${code}` }
    : ruleNamed(name);
}

const OF_CANCELS: Readonly<Record<CancelReason, RuleName>> = {
  USER: 'orderStatus',
  EXPIRED: 'timeInForce',
  IOC_REMAINDER: 'timeInForce',
  FOK_NOT_FILLABLE: 'timeInForce',
  OCO: 'brackets',
  RESET: 'reset',
  MARGIN_CALL: 'calls',
  BROKER: 'brokers',
  CORPORATE_ACTION: 'corporateActions',
  INSTRUMENT_EXPIRED: 'exercise',
  INSUFFICIENT_FUNDS: 'reservations',
  STALE_MARKET_DATA: 'marketData',
  TRADING_HALTED: 'halts',
  SCRIPTED: 'orderStatus',
  COMPETITION: 'orderStatus',
};

/** The rule behind the status of an order: of its refusal, of its end, or of the wait for its fill. */
export function ruleOfOrder({ rejectReason, cancelReason, legs }: Order): RulePage | undefined {
  if (rejectReason !== undefined) return ruleOfCode(rejectReason.code, rejectReason);
  if (cancelReason !== undefined) return ruleNamed(OF_CANCELS[cancelReason]);
  return ruleNamed(legs === undefined ? 'orderTypes' : 'multiLeg');
}

/** The rule behind a fill. */
export function ruleOfFill({ explanation: { rule } }: Pick<Execution, 'explanation'>): RuleName {
  if (rule.endsWith('_AUCTION')) return 'auctions';
  return rule === 'RULE_201' ? 'shortSaleRestriction' : 'fillModels';
}

/** The rule behind the requirement of a group of positions. */
export function ruleOfGroup(strategy: Requirements['groups'][number]['strategy']): RuleName {
  switch (strategy) {
    case 'LONG_STOCK':
    case 'SHORT_STOCK':
      return 'regT';
    case 'FUTURE':
    case 'FUTURE_SPREAD':
      return 'futures';
    case 'CLASS_GROUP':
      return 'portfolioMargin';
    default:
      return 'optionMargin';
  }
}

/** The rule behind the buying power of a portfolio. */
export const ruleOfBuyingPower = ({
  portfolioType,
  marginType,
}: Pick<PortfolioDetail, 'portfolioType' | 'marginType'>): RuleName =>
  portfolioType === 'CASH' ? 'cash' : marginType === 'PORTFOLIO' ? 'portfolioMargin' : 'regT';
