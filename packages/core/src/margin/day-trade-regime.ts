import type { BrokerConfiguration, DayTradeRegime } from '../brokers/broker.js';
import { TradingDate } from '../values/trading-date.js';

/** From this date FINRA's intraday margin rule replaces the pattern-day-trader rule (Regulatory Notice 26-10). */
const INTRADAY_MARGIN_FROM = TradingDate.of('2026-06-04');

/** The day-trade rule on a date; a broker may keep the old one, or have phased in the new (D45). */
export const dayTradeRegimeOf = (broker: BrokerConfiguration, date: TradingDate): DayTradeRegime =>
  broker.dayTradeRegime ?? (date < INTRADAY_MARGIN_FROM ? 'LEGACY_PDT' : 'INTRADAY_MARGIN');
