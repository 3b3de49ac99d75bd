/** The account, its configuration and its keys' limits. */
import { Money, type TradingDate } from '@sandpit/core';
import type { Numbers } from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import { forbidden, invalid } from './refusals.js';
import type { AlpacaHandler } from './request.js';

/** Figures at the last close before a date of New York; those of its opening or reset, if it came later. */
type CloseMark = NonNullable<Numbers['previousClose']>;

function startOfDay(
  { previousClose, terms }: Numbers,
  today: TradingDate,
): Omit<CloseMark, 'date'> & { readonly date: string | null } {
  const { initialCash } = terms;
  const close =
    previousClose !== undefined && previousClose.date >= today ? previousClose.before : previousClose;
  return close ?? { date: null, totalEquity: initialCash, maintenanceExcess: initialCash };
}

const DAY_TRADING_LEVERAGE = 4;

const dayTradingPowerAt = ({ maintenanceExcess }: Pick<CloseMark, 'maintenanceExcess'>): Money =>
  Money.toCents(Money.ofUnits(Math.max(maintenanceExcess, 0) * DAY_TRADING_LEVERAGE));

/** The account that a key pair opens: its portfolio. */
export const getAccount: AlpacaHandler = async (call) => {
  const { book } = call;
  const { portfolioId } = book;
  const numbers = await book.numbers();
  if (numbers === undefined) throw forbidden('account is closed');
  const { shown, isFrozen } = numbers;
  const close = startOfDay(numbers, book.calendar.dateOf(book.now()));
  const { suspend_trade, no_shorting } = call.kept.configuration();
  const isMargin = shown.portfolioType === 'MARGIN';
  const cash = shown.settledCash + shown.pendingCash + shown.reservedCash - shown.marginLoan;
  const buyingPower = decimal(shown.overnightBuyingPower);
  const isLegacy = shown.dayTradeRegime === 'LEGACY_PDT';
  const level = isMargin ? 3 : 2;
  return {
    id: portfolioId,
    admin_configurations: {},
    user_configurations: null,
    account_number: portfolioId.replaceAll('-', '').slice(0, 10).toUpperCase(),
    status: 'ACTIVE',
    crypto_status: 'INACTIVE',
    currency: 'USD',
    cash: decimal(cash),
    portfolio_value: decimal(shown.totalEquity),
    equity: decimal(shown.totalEquity),
    last_equity: Money.format(close.totalEquity),
    buying_power: buyingPower,
    effective_buying_power: buyingPower,
    regt_buying_power: buyingPower,
    options_buying_power: decimal(shown.settledCash),
    non_marginable_buying_power: decimal(shown.settledCash),
    bod_dtbp: isLegacy ? Money.format(dayTradingPowerAt(close)) : '0',
    // Fields of the pattern day trader rule, while it is in force.
    ...(isLegacy && {
      daytrading_buying_power: decimal(shown.dayTradeBuyingPower),
      pattern_day_trader: false,
    }),
    initial_margin: decimal(shown.initialMarginRequirement),
    maintenance_margin: decimal(shown.maintenanceMarginRequirement),
    last_maintenance_margin: Money.format(
      Money.toCents(Money.subtract(close.totalEquity, close.maintenanceExcess)),
    ),
    sma: decimal(shown.smaBalance),
    multiplier: isMargin ? '2' : '1',
    long_market_value: decimal(shown.longMarketValue),
    short_market_value: decimal(-shown.shortMarketValue),
    position_market_value: decimal(shown.longMarketValue + shown.shortMarketValue),
    accrued_fees: '0',
    pending_transfer_in: '0',
    pending_transfer_out: '0',
    pending_reg_taf_fees: '0',
    intraday_adjustments: '0',
    balance_asof: close.date,
    shorting_enabled: isMargin && !no_shorting,
    trading_blocked: isFrozen,
    transfers_blocked: isFrozen,
    account_blocked: isFrozen,
    trade_suspended_by_user: suspend_trade,
    created_at: shown.createdAt,
    options_approved_level: level,
    options_trading_level: level,
  };
};

export const getConfiguration: AlpacaHandler = (call) => Promise.resolve(call.kept.configuration());

/** Changes the named fields that are not null; former names are ignored. */
export const changeConfiguration: AlpacaHandler = async (call) => {
  const { kept, body, book } = call;
  if (!book.mayTrade) throw forbidden('the key pair may only read');
  const flag = (name: string): Record<string, boolean> => {
    if (!body.has(name)) return {};
    if (body.choice(name, ['true', 'false']) === undefined) throw invalid(`${name} must be true or false`);
    return { [name]: body.flag(name) };
  };
  const email = body.choice('trade_confirm_email', ['all', 'none']);
  const multiplier = body.choice('max_margin_multiplier', ['1', '2', '4']);
  const level = body.integer('max_options_trading_level', 0, 3);
  const changed = {
    ...kept.configuration(),
    ...flag('suspend_trade'),
    ...flag('no_shorting'),
    ...flag('fractional_trading'),
    ...flag('ptp_no_exception_entry'),
    ...(email !== undefined && { trade_confirm_email: email }),
    ...(multiplier !== undefined && { max_margin_multiplier: multiplier }),
    ...(level !== undefined && { max_options_trading_level: level }),
  };
  await kept.saveConfiguration(changed);
  return changed;
};
