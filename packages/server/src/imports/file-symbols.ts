import { formatOsi, parseOsi, Price, TradingDate } from '@sandpit/core';

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** `-AAPL240119C150`, Fidelity's; the dash is part of the notation. */
const COMPACT = /^-?([A-Z0-9.]{1,6}?)(\d{2})(\d{2})(\d{2})([CP])(\d+(?:\.\d+)?)$/;
/** `AAPL 01/19/2024 150.00 C`, Schwab's. */
const SPELLED = /^([A-Z0-9.]{1,6}) (\d{2})\/(\d{2})\/(\d{4}) (\d+(?:\.\d+)?) ([CP])$/;
/** `AAPL 19JAN24 150 C`, Interactive Brokers'. */
const DATED = /^([A-Z0-9.]{1,6}) (\d{2})([A-Z]{3})(\d{2}) (\d+(?:\.\d+)?) ([CP])$/;

/**
 * The symbol of a file's text: contracts in OSI form, class shares with a dot instead of a slash or a blank (`BRK/B`),
 * all others in capitals.
 */
export function symbolInFile(text: string): string {
  const symbol = text.trim().toUpperCase();
  const option = optionInFile(symbol);
  if (option !== undefined) return option;
  const [, root, shareClass] = /^([A-Z]{1,5})[ /.]([A-Z])$/.exec(symbol) ?? [];
  return root !== undefined && shareClass !== undefined ? `${root}.${shareClass}` : symbol;
}

function optionInFile(text: string): string | undefined {
  const osi = parseOsi(text);
  if (osi !== undefined) return formatOsi(osi);
  const compact = COMPACT.exec(text);
  if (compact !== null) {
    const [, root, year, month, day, right, strike] = compact;
    return osiOf(root, `20${year}-${month}-${day}`, right, strike);
  }
  const spelled = SPELLED.exec(text);
  if (spelled !== null) {
    const [, root, month, day, year, strike, right] = spelled;
    return osiOf(root, `${year}-${month}-${day}`, right, strike);
  }
  const dated = DATED.exec(text);
  if (dated === null) return undefined;
  const [, root, day, month = '', year, strike, right] = dated;
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  return osiOf(root, `20${year}-${number}-${day}`, right, strike);
}

function osiOf(root = '', date: string, right = '', strike = ''): string | undefined {
  const expiration = TradingDate.parse(date);
  const price = Price.parse(strike);
  if (expiration === undefined || price === undefined) return undefined;
  return formatOsi({ root, expiration, optionType: right === 'C' ? 'CALL' : 'PUT', strike: price });
}

/** Other ways to write a symbol that a catalog may know: `BRKB` for `BRK.B`. */
export function otherSpellings(symbol: string): readonly string[] {
  return /^[A-Z]{2,5}$/.test(symbol) ? [`${symbol.slice(0, -1)}.${symbol.slice(-1)}`] : [];
}
