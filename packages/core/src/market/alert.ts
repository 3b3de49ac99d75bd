import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';

/** Side of the level on which an alert fires; a price at the level fires on both. */
export type AlertCondition = 'ABOVE' | 'BELOW';

/** Terms of a price alert, as its owner gives them. */
export interface AlertTerms {
  readonly symbol: string;
  readonly condition: AlertCondition;
  readonly price: Price;
  readonly note?: string;
}

/** A price alert of a simulation (D281). It fires once; a change arms it again. */
export interface Alert extends AlertTerms {
  readonly number: number;
  readonly createdAt: Instant;
  /** When it was set or last changed: prices from before do not fire it. */
  readonly armedAt: Instant;
  /** `ENDED`: its symbol is quoted no more. */
  readonly status: 'ACTIVE' | 'FIRED' | 'ENDED';
  /** When and at which price it fired. */
  readonly fired?: { readonly at: Instant; readonly price: Price };
}

/** Most alerts of a simulation, those that have fired included. */
export const MOST_ALERTS = 200;

/** True when a price is at or beyond the level of an alert. */
export const isBeyond = ({ condition, price: level }: AlertTerms, price: Price): boolean =>
  condition === 'ABOVE' ? price >= level : price <= level;
