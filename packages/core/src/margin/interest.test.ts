import { expect, it } from 'vitest';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { dailyBorrowFee } from './interest.js';

/** Whole dollars a share that a fee is charged on: 100 shares at 36 % a year are 0.10 a dollar and day. */
const dollarsAt = (price: string): number => dailyBorrowFee(Price.of(price), Quantity.of(100), 0.36) / 1e7;

it.each([
  ['16.66666667', 17],
  ['16.67', 18],
  ['50', 51],
  ['50.0001', 52],
  ['0.50', 1],
  ['33.33333333', 34],
  ['8000.0001', 8161],
])('dailyBorrowFee: stock at %s counts %d dollars', (price, dollars) => {
  expect(dollarsAt(price)).toBe(dollars);
});
