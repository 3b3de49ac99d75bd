export * from './amounts.js';
export * from './bars.js';
export * from './day-profit.js';
export * from './dialect.js';
export * from './chains.js';
export * from './day-figures.js';
export * from './form-fields.js';
export * from './ids.js';
export * from './intents.js';
export * from './option-symbols.js';
export * from './order-groups.js';
export * from './order-views.js';
export * from './port.js';
export * from './quote-watch.js';
export * from './refused.js';
export * from './strategy.js';
export * from './words.js';
export * from './xml.js';
export type {
  AnnouncedAction,
  Bar,
  EquityPoint,
  EquityPosition,
  Instrument,
  MarketHours,
  OperationId,
  OptionChainContract,
  OptionPosition,
  Quote,
  TradingDay,
} from '@sandpit/protocol';
