import { TradingDate } from '../../values/trading-date.js';

/** Scenario range of a class, down and up, in hundredths of a percent. */
export interface Range {
  readonly down: number;
  readonly up: number;
}

/** Underlyings that are margined as one: an index and its funds. */
export interface MarginClass {
  readonly name: string;
  readonly underlyings: readonly string[];
  readonly range: Range;
  /** Classes of one product group offset each other in part; absent = no offset. */
  readonly productGroup?: string;
}

/** The figures of TIMS and SIMPLE (D115, D116). */
export interface RiskParameters {
  /** The first date on which they are in force. */
  readonly effectiveFrom: TradingDate;
  readonly classes: readonly MarginClass[];
  /** Ranges of underlyings in no class, by their kind. */
  readonly stock: Range;
  readonly broadIndex: Range;
  /** Part of the gains of some classes of a product group that offsets losses of others. */
  readonly offsetBps: number;
  /** Dollars per point of multiplier: $37.50 for a contract of 100 shares. */
  readonly minimumPerPoint: number;
  /** Ranges of SIMPLE. */
  readonly simple: { readonly stock: number; readonly broadIndex: number; readonly volatilityIndex: number };
}

const HIGH_CAP: Range = { down: 800, up: 600 };
const OTHER_BROAD: Range = { down: 1000, up: 1000 };

const highCap = (name: string, symbols: string): MarginClass => ({
  name,
  underlyings: symbols.split(' '),
  range: HIGH_CAP,
  productGroup: 'HIGH_CAPITALIZATION',
});
const otherBroad = (name: string, symbols: string): MarginClass => ({
  name,
  underlyings: symbols.split(' '),
  range: OTHER_BROAD,
  productGroup: 'OTHER_BROAD',
});

const PARAMETERS: readonly RiskParameters[] = [
  {
    effectiveFrom: TradingDate.of('1970-01-01'),
    classes: [
      highCap('S&P 500', 'SPX SPXW XSP SPY IVV VOO SPLG SSO UPRO SPXL SH SDS SPXU'),
      highCap('S&P 100', 'OEX XEO'),
      highCap('Dow', 'DJX DIA'),
      highCap('Russell 1000', 'IWB'),
      highCap('Russell 3000', 'IWV VTI'),
      otherBroad('Nasdaq-100', 'NDX NDXP XND QQQ QQQM QLD TQQQ SQQQ'),
      otherBroad('Russell 2000', 'RUT RUTW MRUT IWM TNA TZA'),
      otherBroad('S&P 400', 'MDY IJH'),
      { name: 'VIX', underlyings: ['VIX', 'VIXW'], range: { down: 2000, up: 2000 } },
    ],
    stock: { down: 1500, up: 1500 },
    broadIndex: OTHER_BROAD,
    offsetBps: 9000,
    minimumPerPoint: 0.375,
    simple: { stock: 1500, broadIndex: 1000, volatilityIndex: 2000 },
  },
];

/** The figures in force on a date. */
export function riskParametersOn(date: TradingDate): RiskParameters {
  const inForce = PARAMETERS.findLast(({ effectiveFrom }) => effectiveFrom <= date) ?? PARAMETERS[0];
  if (inForce === undefined) throw new RangeError('no parameters');
  return inForce;
}
