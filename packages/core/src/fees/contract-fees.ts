/**
 * Fees on contracts in addition to the commission, if the broker passes them on (D82, docs/rules/fees.md).
 *
 * - OCC: clearing, per option contract, both sides. ORF: the options regulatory fee, likewise.
 * - SEC and TAF on options sold: the SEC's by value as on shares, not on broad-index options; the TAF per contract, not on index options.
 * - EXCHANGE: of index options by class and premium; of futures by root. NFA: per future and side.
 *
 * SEC and TAF are rounded up to the next cent, the others to the nearest, on the total of one order on one trade date.
 */
import type { FeeClass } from '../instruments/instrument.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { Rounding } from '../values/scaled.js';
import { TradingDate } from '../values/trading-date.js';
import { secFee } from './regulatory.js';
import type { FeeCharge } from './regulatory.js';

/** Executions of one order in contracts on one trade date. */
export interface ContractFeeInput {
  readonly feeClass: Exclude<FeeClass, 'SHARES'>;
  /** Root of the symbols: the exchange's name of the class. */
  readonly root: string;
  /** Dollars per point and contract. */
  readonly multiplier: number;
  readonly tradeDate: TradingDate;
  /** All contracts, and their value. */
  readonly quantity: Quantity;
  readonly value: Money;
  /** Contracts sold. */
  readonly soldQuantity: Quantity;
  readonly soldValue: Money;
}

const OCC_FROM = TradingDate.of('2025-02-14');
const OCC = 25_000;
const OCC_BEFORE = 20_000;
const OCC_MOST_BEFORE = Money.ofDollars(55);
const ORF = 20_000;
const NFA = 20_000;

/** Trading activity fee per option contract sold, in millionths of a dollar (FINRA By-Laws, Schedule A § 1). */
const TAF_FROM = TradingDate.of('2026-01-01');
const TAF = 3290;
const TAF_BEFORE = 2790;

/** Per contract and side, in millionths of a dollar. Sources: docs/rules/fees.md. */
const FUTURE_EXCHANGE: Readonly<Record<string, number>> = {
  ES: 1_380_000,
  NQ: 1_380_000,
  YM: 1_380_000,
  RTY: 1_380_000,
  MES: 350_000,
  MNQ: 350_000,
  MYM: 350_000,
  M2K: 350_000,
  MGC: 750_000,
  SIL: 1_000_000,
  MCL: 500_000,
  BTC: 6_000_000,
  MBT: 2_500_000,
};
const OTHER_FUTURE_EXCHANGE = 1_600_000;

/** Fee per contract by premium, in millionths of a dollar; the last row is for all premiums above. */
type PremiumScale = readonly { readonly below: number; readonly fee: number }[];

const INDEX_EXCHANGE: Readonly<Record<string, PremiumScale>> = {
  SPX: [
    { below: 1, fee: 570_000 },
    { below: Infinity, fee: 660_000 },
  ],
  SPXW: [
    { below: 1, fee: 500_000 },
    { below: Infinity, fee: 590_000 },
  ],
  VIX: [
    { below: 0.1001, fee: 100_000 },
    { below: 1, fee: 250_000 },
    { below: 2, fee: 400_000 },
    { below: Infinity, fee: 450_000 },
  ],
  DJX: [{ below: Infinity, fee: 180_000 }],
  NDX: [{ below: Infinity, fee: 250_000 }],
  NDXP: [{ below: Infinity, fee: 250_000 }],
};
/** XSP: no fee for orders below ten contracts. */
const XSP_FEE = 70_000;
const XSP_FREE_BELOW = 10_000_000;

/** Quantity (10^-6) × micro-dollars (10^-6) counts 10^-12 dollars; a cent is 10^10 of those. */
const PRODUCT_UNITS_PER_CENT = 1e10;
const UNITS_PER_CENT = 100;

const perContract = (quantity: Quantity, microDollars: number, rounding: Rounding): Money =>
  Money.ofUnits(multiplyDivide(quantity, microDollars, PRODUCT_UNITS_PER_CENT, rounding) * UNITS_PER_CENT);

/** Fees that an order in contracts owes on one trade date, cumulative. Fees of zero are left out. */
export function contractFees(input: ContractFeeInput): FeeCharge[] {
  const fees = input.feeClass === 'FUTURES' ? futureFees(input) : optionFees(input);
  return fees.filter(({ amount }) => amount !== 0);
}

function futureFees({ root, quantity }: ContractFeeInput): FeeCharge[] {
  const fee = FUTURE_EXCHANGE[root] ?? OTHER_FUTURE_EXCHANGE;
  return [
    { name: 'EXCHANGE', amount: perContract(quantity, fee, 'half-up') },
    { name: 'NFA', amount: perContract(quantity, NFA, 'half-up') },
  ];
}

function optionFees(input: ContractFeeInput): FeeCharge[] {
  const { feeClass, tradeDate, quantity, soldQuantity, soldValue } = input;
  const isOnShares = feeClass === 'SHARE_OPTIONS';
  const tafRate = tradeDate >= TAF_FROM ? TAF : TAF_BEFORE;
  return [
    {
      name: 'SEC',
      amount: feeClass === 'BROAD_INDEX_OPTIONS' ? Money.zero : secFee(tradeDate, soldValue),
    },
    { name: 'TAF', amount: isOnShares ? perContract(soldQuantity, tafRate, 'up') : Money.zero },
    {
      name: 'OCC',
      amount:
        tradeDate >= OCC_FROM
          ? perContract(quantity, OCC, 'half-up')
          : Money.min(perContract(quantity, OCC_BEFORE, 'half-up'), OCC_MOST_BEFORE),
    },
    { name: 'ORF', amount: perContract(quantity, ORF, 'half-up') },
    { name: 'EXCHANGE', amount: isOnShares ? Money.zero : indexExchangeFee(input) },
  ];
}

function indexExchangeFee({ root, multiplier, quantity, value }: ContractFeeInput): Money {
  if (root === 'XSP') {
    return quantity < XSP_FREE_BELOW ? Money.zero : perContract(quantity, XSP_FEE, 'half-up');
  }
  const scale = INDEX_EXCHANGE[root === 'VIXW' ? 'VIX' : root];
  if (scale === undefined || quantity === 0) return Money.zero;
  // Value counts 10^-4 dollars, quantity 10^-6: the average premium of the order so far.
  const premium = (value * 100) / (quantity * multiplier);
  const fee = scale.find(({ below }) => premium < below)?.fee ?? 0;
  return perContract(quantity, fee, 'half-up');
}
