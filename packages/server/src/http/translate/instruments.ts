import {
  type Equity,
  type FutureContract,
  type Instrument,
  type OptionContract,
  TradingDate,
} from '@sandpit/core';
import type { Instrument as ShownInstrument, ListInstrument } from '@sandpit/protocol';
import { moneyNumber, moneyOf, priceNumber, priceOf } from './numbers.js';

const OSI = /^([A-Z0-9.]{1,6}) *(\d{6})([CP])(\d{8})$/;

/** An option symbol without its blanks (D61); any other symbol as it is. */
export function plainSymbol(symbol: string): string {
  return symbol.includes(' ') && OSI.test(symbol) ? symbol.replaceAll(' ', '') : symbol;
}

/** What an OSI symbol says; undefined where it is none, or names a date that does not exist. */
function partsOfOsi(
  symbol: string,
): Pick<OptionContract, 'underlying' | 'optionType' | 'strike' | 'expiration'> | undefined {
  const [, underlying, date, right, strike] = OSI.exec(symbol) ?? [];
  if (underlying === undefined || date === undefined || strike === undefined) return undefined;
  const expiration = TradingDate.parse(`20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`);
  if (expiration === undefined) return undefined;
  return {
    underlying,
    optionType: right === 'C' ? 'CALL' : 'PUT',
    strike: priceOf(Number(strike) / 1000),
    expiration,
  };
}

/** What is known of an equity that is listed without saying more. */
const ORDINARY = {
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 1_000_000,
  dailyVolatility: 0.02,
} as const;

/** The instruments of a body, or one message for each that cannot be listed. */
export function instrumentsOf(
  listed: readonly ListInstrument[],
): { readonly instruments: readonly Instrument[] } | { readonly problems: string[] } {
  const instruments: Instrument[] = [];
  const problems: string[] = [];
  listed.forEach((entry, i) => {
    switch (entry.assetClass) {
      case 'EQUITY':
        instruments.push(equityOf(entry));
        return;
      case 'FUTURE':
        instruments.push(futureOf(entry));
        return;
      case 'OPTION': {
        const option = optionOf(entry);
        if (option === undefined)
          problems.push(`instruments.${i}.symbol must be an option symbol in OSI form`);
        else instruments.push(option);
        return;
      }
      case 'INDEX':
        problems.push(`instruments.${i}.assetClass INDEX cannot be listed yet`);
    }
  });
  return problems.length > 0 ? { problems } : { instruments };
}

type Listed<Class extends ListInstrument['assetClass']> = Extract<ListInstrument, { assetClass: Class }>;

function equityOf(entry: Listed<'EQUITY'>): Equity {
  const { tickSize, leverageFactor, shortable, borrowRateAnnual } = entry;
  return {
    assetClass: 'EQUITY',
    symbol: entry.symbol,
    name: entry.name ?? entry.symbol,
    ...ORDINARY,
    ...(tickSize !== undefined && { tickSize: priceOf(tickSize) }),
    ...(leverageFactor !== undefined && { leverageFactor }),
    ...(shortable !== undefined && { shortable }),
    ...(borrowRateAnnual !== undefined && { borrowRateAnnual }),
  };
}

function futureOf(entry: Listed<'FUTURE'>): FutureContract {
  return {
    assetClass: 'FUTURE',
    symbol: entry.symbol,
    // `ESZ6` is the December 2026 delivery of `ES`.
    root: entry.root ?? entry.symbol.replace(/[FGHJKMNQUVXZ]\d{1,2}$/, ''),
    multiplier: entry.multiplier,
    tickSize: priceOf(entry.tickSize),
    lastTradeDate: TradingDate.of(entry.lastTradeDate),
    initialMargin: moneyOf(entry.initialMargin),
    maintenanceMargin: moneyOf(entry.maintenanceMargin),
  };
}

function optionOf(entry: Listed<'OPTION'>): OptionContract | undefined {
  const { underlying, optionType, strike, expiration } = entry;
  const named = entry.symbol === undefined ? undefined : partsOfOsi(entry.symbol);
  const parts =
    entry.symbol !== undefined
      ? named
      : underlying !== undefined &&
          optionType !== undefined &&
          strike !== undefined &&
          expiration !== undefined
        ? { underlying, optionType, strike: priceOf(strike), expiration: TradingDate.of(expiration) }
        : undefined;
  if (parts === undefined) return undefined;
  return {
    assetClass: 'OPTION',
    symbol: entry.symbol === undefined ? osiOf(parts) : plainSymbol(entry.symbol),
    ...parts,
    multiplier: entry.multiplier ?? 100,
    style: entry.style ?? 'AMERICAN',
    settlement: entry.settlement ?? 'PHYSICAL',
  };
}

function osiOf(parts: Pick<OptionContract, 'underlying' | 'optionType' | 'strike' | 'expiration'>): string {
  const date = parts.expiration.slice(2).replaceAll('-', '');
  const strike = String(Math.round(priceNumber(parts.strike) * 1000)).padStart(8, '0');
  return `${parts.underlying}${date}${parts.optionType === 'CALL' ? 'C' : 'P'}${strike}`;
}

export function shownInstrument(instrument: Instrument): ShownInstrument {
  switch (instrument.assetClass) {
    case 'EQUITY': {
      const { tickSize, symbol, name, leverageFactor, shortable, borrowRateAnnual } = instrument;
      return {
        symbol,
        assetClass: 'EQUITY',
        name,
        ...(tickSize !== undefined && { tickSize: priceNumber(tickSize) }),
        leverageFactor,
        shortable,
        borrowRateAnnual,
      };
    }
    case 'OPTION':
      return {
        symbol: instrument.symbol,
        assetClass: 'OPTION',
        underlying: instrument.underlying,
        optionType: instrument.optionType,
        strike: priceNumber(instrument.strike),
        expiration: instrument.expiration,
        multiplier: instrument.multiplier,
        style: instrument.style,
        settlement: instrument.settlement,
      };
    case 'FUTURE':
      return {
        symbol: instrument.symbol,
        assetClass: 'FUTURE',
        root: instrument.root,
        multiplier: instrument.multiplier,
        tickSize: priceNumber(instrument.tickSize),
        lastTradeDate: instrument.lastTradeDate,
        initialMargin: moneyNumber(instrument.initialMargin),
        maintenanceMargin: moneyNumber(instrument.maintenanceMargin),
      };
  }
}
