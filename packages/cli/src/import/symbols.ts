/** Vendors' symbols in Sandpit's form, and the kinds of instruments that Sandpit does not keep. */
import {
  canonicalSymbol,
  formatOsi,
  futureSpecification,
  parseFutureSymbol,
  parseOsi,
  Price,
  TradingDate,
} from '@sandpit/core';
import { catalogEntry } from '@sandpit/server/catalog';
import { BadValue, priceOf } from './values.js';
import { dateOf } from './times.js';

/** A vendor's way to write suffixes, where it contradicts others: at Nasdaq `T-C` is a preferred share, at Yahoo `VOD.L` trades in London. */
export type Notation = 'common' | 'nasdaq' | 'yahoo' | 'stooq';

/** An instrument of a file: its symbol in Sandpit's form, or the kind because of which it is left out. */
export type FoundSymbol =
  { readonly symbol: string; readonly isIndex: boolean } | { readonly leftOut: string };

const found = (symbol: string, isIndex = false): FoundSymbol => ({ symbol, isIndex });
const leftOut = (kind: string): FoundSymbol => ({ leftOut: kind });

/** Suffixes of instruments other than shares; `$1` of a preferred share is its series. In the order of precedence. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^[A-Z.]+[./ _-](?:W|W[ST][./ -]?[A-Z]?)$|^[A-Z.]+\+[A-Z]?$/, 'warrants'],
  [/^[A-Z.]+(?:[./ _-]UN|[./ _-]U|=)$/, 'units'],
  [/^[A-Z.]+(?:[./ _-]R[IT]?|\^|rw?)$/, 'rights'],
  [/^[A-Z.]+(?:#|w|[./ _-]W[ID])$|^[A-Z]+p[A-Z]?w$/, 'shares when issued'],
  [
    /^[A-Z0-9]{1,4}=F$|^[A-Z0-9]{1,4}\d!$|^[A-Z0-9]{1,4}\.(?:[a-z]\.\d+|FUT|OPT)$|^@[A-Z]+/,
    'continuous futures',
  ],
  [/^[A-Z0-9]{1,4}[FGHJKMNQUVXZ]\d{1,2}[-:][A-Z0-9]/, 'futures spreads'],
  [/^[A-Z0-9]{1,4}[FGHJKMNQUVXZ]\d{1,2} ?[CP] ?\d/, 'options on futures'],
  [/=X$|^[CX]:|^[A-Z0-9]{2,10}[-/](?:USDT?|USDC|EUR|GBP|JPY|BTC|ETH)$/, 'currencies'],
];
/** On Nasdaq the fifth letter names the kind. */
const FIFTH_LETTERS: Readonly<Record<string, string>> = { W: 'warrants', R: 'rights', U: 'units' };

/** `T-PC`, `T-P-C`, `T PRC`, `T.PRC`, `TpC`. */
const PREFERRED = [
  /^([A-Z]{1,5})[-/ _.]PR([A-Z]?)$/,
  /^([A-Z]{1,5})p([A-Z]?)$/,
  /^([A-Z]{1,5})[-/ _]P-?([A-Z])$/,
];
const CLASS = /^([A-Z]{1,5})[-./ _]([A-Z])$/;
const MARKET = /^[A-Z0-9-]{1,10}\.[A-Z]{2,3}$/;
const SHARE = /^[A-Z][A-Z0-9]{0,5}$/;

/** The instrument that a vendor's text names; `year` completes futures with one digit of theirs. Throws `BadValue`. */
export function symbolOf(text: string, year: number, notation: Notation = 'common'): FoundSymbol {
  const trimmed = text.trim();
  const isIndex = /^(?:I:|\^)/.test(trimmed);
  // All in lower case is a way to write; mixed case tells kinds apart, such as the preferred share TpC from TPC.
  const plain = (/[A-Z]/.test(trimmed) ? trimmed : trimmed.toUpperCase()).replace(/^(?:[OI]:|\^)/, '');
  if (isIndex && /^[A-Z][A-Z0-9]{0,9}$/.test(plain)) return found(plain, true);
  const option = parseOsi(plain);
  if (option !== undefined) return optionFound(option);
  if (notation === 'stooq') return stooqSymbol(plain);
  const [, issuer, dashed] = (notation === 'nasdaq' && /^([A-Z]{1,5})-([A-Z])$/.exec(plain)) || [];
  if (issuer !== undefined && dashed !== undefined) return found(`${issuer}.PR${dashed}`);
  for (const [form, kind] of KINDS) if (form.test(plain)) return leftOut(kind);
  const fifth = /^[A-Z]{4}([WRU])$/.exec(plain)?.[1];
  if (fifth !== undefined && catalogEntry(plain) === undefined) return leftOut(FIFTH_LETTERS[fifth] ?? '');
  // The next year that ends so: a contract that trades is not over. The core's rule begins a year earlier.
  const future = canonicalSymbol(
    plain,
    TradingDate.ofDay(TradingDate.dayOf(TradingDate.of(`${year + 1}-01-01`))),
  );
  if (isFuture(future)) return found(future);
  for (const form of PREFERRED) {
    const [, root, series = ''] = form.exec(plain) ?? [];
    if (root !== undefined) return found(`${root}.PR${series}`);
  }
  if (/[a-z]/.test(plain)) return leftOut('symbols in mixed case');
  const share = plain.replace(/\.US$/, '');
  if (notation === 'yahoo' && /\.[A-Z]$/.test(share)) return leftOut('other currencies');
  const [, root, letter] = CLASS.exec(share) ?? [];
  if (root !== undefined && letter !== undefined) return found(`${root}.${letter}`);
  if (MARKET.test(share)) return leftOut('other currencies');
  if (!SHARE.test(share)) throw new BadValue(`"${text}" is not a symbol`);
  return found(share);
}

function isFuture(symbol: string): boolean {
  const parsed = parseFutureSymbol(symbol, 2000);
  return parsed !== undefined && futureSpecification(parsed.root) !== undefined && /\d\d$/.test(symbol);
}

/** `BRK-B.US`, a preferred share `T_C.US`; other ends are other markets. */
function stooqSymbol(plain: string): FoundSymbol {
  const symbol = plain.toUpperCase();
  const preferred = /^([A-Z]+)_([A-Z])\.US$/.exec(symbol);
  if (preferred !== null) return found(`${preferred[1] ?? ''}.PR${preferred[2] ?? ''}`);
  return symbol.endsWith('.US') ? symbolOf(symbol, 2000) : leftOut('other currencies');
}

/** A root with a digit is that of an adjusted contract, whose deliverable is not in the file. */
function optionFound(option: NonNullable<ReturnType<typeof parseOsi>>): FoundSymbol {
  if (/\d$/.test(option.root)) return leftOut('adjusted options');
  const symbol = formatOsi(option);
  return symbol === undefined ? leftOut('adjusted options') : found(symbol);
}

/** The option of a root and its terms. Throws `BadValue`. */
export function optionOf(root: string, expiration: string, strike: string, right: string): FoundSymbol {
  const side = /^(?:C(?:ALL)?|P(?:UT)?)$/i.exec(right)?.[0][0]?.toUpperCase();
  if (side === undefined) throw new BadValue(`"${right}" is neither call nor put`);
  const price = Price.parse(priceOf(strike));
  const date = TradingDate.parse(dateOf(expiration));
  if (price === undefined || date === undefined) throw new BadValue(`"${strike}" is not a strike`);
  const option = {
    root: root.trim().replace(/^\^/, ''),
    expiration: date,
    optionType: side === 'C' ? ('CALL' as const) : ('PUT' as const),
    strike: price,
  };
  if (formatOsi(option) === undefined) throw new BadValue(`"${root} ${strike}" is not an option`);
  return optionFound(option);
}

/** Classes and preferred series that names of files may mean besides those of the catalog. */
const CLASSES: ReadonlySet<string> = new Set(
  (
    'BRK.A BRK.B BF.A BF.B HEI.A LEN.B MOG.A MOG.B GEF.B HUB.B CWEN.A RUSH.A UHAL.B AKO.A AKO.B BIO.B CRD.A CRD.B PBR.A ' +
    'STZ.B TAP.A WSO.B LGF.A LGF.B JW.A JW.B MKC.V EBR.B GTN.A FCE.A VIA.B ' +
    'T.PRA T.PRC BAC.PRB BAC.PRE BAC.PRK BAC.PRL BAC.PRM BAC.PRN BAC.PRO BAC.PRP BAC.PRQ BAC.PRS C.PRN ' +
    'WFC.PRA WFC.PRC WFC.PRD WFC.PRL WFC.PRY WFC.PRZ JPM.PRC JPM.PRD JPM.PRJ JPM.PRK JPM.PRL JPM.PRM ' +
    'GS.PRA GS.PRC GS.PRD MS.PRA MS.PRE MS.PRF MS.PRI MS.PRK MS.PRL MS.PRO MS.PRP MS.PRQ USB.PRA USB.PRH USB.PRP USB.PRQ ' +
    'USB.PRR USB.PRS MET.PRA MET.PRE MET.PRF PSA.PRF PSA.PRG PSA.PRH PSA.PRI PSA.PRJ PSA.PRK PSA.PRL PSA.PRM PSA.PRN ' +
    'PSA.PRO PSA.PRP PSA.PRQ PSA.PRR PSA.PRS F.PRB F.PRC F.PRD ALL.PRB ALL.PRH ALL.PRI ALL.PRJ BA.PRA'
  ).split(' '),
);
const isListedClass = (symbol: string): boolean => CLASSES.has(symbol) || catalogEntry(symbol) !== undefined;

/** First words of names of files that are no symbol: exchanges as TradingView writes them, and a data set. */
const EXCHANGES: ReadonlySet<string> = new Set(
  'NASDAQ NYSE AMEX ARCA NYSEARCA BATS CBOE OTC SP DJ TVC WIKI'.split(' '),
);
const TRADINGVIEW = /^([A-Z]+)_(?:DLY_)?([A-Z][A-Z0-9._]*)(, [^,]+)?$/;
/** `aapl_us_d.csv`, `bac_l.us.txt` */
const STOOQ = /^([a-z]+)(?:([_-])([a-z]))?[._]us(?:_[dwm])?$/i;

/** The symbol that the name of a file means, or the problem. */
export function symbolInName(stem: string, notation: Notation): FoundSymbol | { readonly why: string } {
  const unclear = (text: string): { readonly why: string } => ({
    why: `no cell names the symbol, and "${text}" in the name of the file may be none: name it (--symbol)`,
  });
  const [, exchange, listed = '', interval] = TRADINGVIEW.exec(stem) ?? [];
  if (exchange !== undefined && EXCHANGES.has(exchange))
    return attempt(listed.replace(/^([A-Z]+)_P([A-Z])$/, '$1-P$2'), notation) ?? unclear(stem);
  if (interval !== undefined) return unclear(stem);
  const [, root, dash, letter] = STOOQ.exec(stem) ?? [];
  if (root !== undefined) {
    const ending = letter === undefined ? '' : `${dash === '_' ? '.PR' : '.'}${letter}`;
    return attempt(`${root}${ending}`.toUpperCase(), 'common') ?? unclear(stem);
  }
  const plain = stem.replace(/ \(\d+\)$/, '');
  // BRK_A is a class share or nothing that is known.
  const [text = ''] = /^[A-Z]+_[A-Z](?![A-Za-z0-9])/.exec(plain) ?? plain.split(/[_ ,]|-(?=\d)/);
  const symbol = /^[A-Za-z^]/.test(text) ? attempt(text, notation) : undefined;
  if (symbol === undefined) return unclear(text === '' ? stem : text);
  if ('leftOut' in symbol)
    return {
      why: `"${text}" in the name of the file is of a kind that Sandpit does not keep (${symbol.leftOut}); if it is another symbol, name it (--symbol)`,
    };
  // Words such as in prices.csv are in lower case.
  const mustBeListed = symbol.symbol.includes('.') || (!/[A-Z]/.test(text) && !symbol.isIndex);
  return mustBeListed && !isListedClass(symbol.symbol) ? unclear(text) : symbol;
}

function attempt(text: string, notation: Notation): FoundSymbol | undefined {
  try {
    return symbolOf(text, new Date().getUTCFullYear(), notation === 'stooq' ? 'common' : notation);
  } catch (error) {
    if (error instanceof BadValue) return undefined;
    throw error;
  }
}
