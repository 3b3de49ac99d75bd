export { Money } from './values/money.js';
export { Price } from './values/price.js';
export { Quantity } from './values/quantity.js';
export { Instant } from './values/instant.js';
export { TradingDate } from './values/trading-date.js';
