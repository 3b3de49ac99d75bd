import type { Event } from '../event.js';

type InterestAccrued = Extract<Event, { type: 'InterestAccrued' }>;

/** A broker's rates per year, in hundredths of a percent, for each part of a loan. */
export type AuditedTiers = readonly { readonly from: number; readonly rateAnnualBps: number }[];

/** The part of a portfolio that its loan depends on. Part of the auditor. */
export interface AuditedLoan {
  readonly isCash: boolean;
  readonly brokerId: string;
  /** Since the last posting, in 10^-8 dollars. */
  accrued: bigint;
  readonly accounts: ReadonlyMap<string, bigint>;
  readonly positions: ReadonlyMap<string, { readonly settled: bigint }>;
  /** Trades by settlement date: `paid` has left settled cash before. */
  readonly obligations: ReadonlyMap<string, { readonly paid: bigint }>;
}

/**
 * Checks a day's interest (D118): on payments beyond the available cash, purchases and sales alike by their settlement dates. The effect of
 * settled shorts is not recomputed: portfolios with shorts must only pay no less. Throws on a violation.
 */
export function judgeInterest(
  { points }: InterestAccrued,
  portfolioOf: (portfolioId: string) => AuditedLoan,
  tiersOf: (brokerId: string) => AuditedTiers,
): void {
  for (const { portfolioId, interest } of points) {
    const portfolio = portfolioOf(portfolioId);
    if (portfolio.isCash) throw new Error('audit: a CASH portfolio pays interest');
    // After ninety million dollars between two postings the accrual stops growing.
    const room = BigInt(Number.MAX_SAFE_INTEGER) - portfolio.accrued;
    const all = interestOn(borrowedBy(portfolio), tiersOf(portfolio.brokerId));
    const due = all > room ? room : all;
    portfolio.accrued += BigInt(interest);
    const off = BigInt(interest) - due;
    const hasShorts = [...portfolio.positions.values()].some(({ settled }) => settled < 0n);
    // The last digit, 10^-8 dollars, may have been rounded differently.
    if (off < -1n || (off > 1n && !hasShorts))
      throw new Error('audit: interest on something else than the loan');
  }
}

function borrowedBy({ accounts, obligations }: AuditedLoan): bigint {
  let cash = accounts.get('SETTLED_CASH') ?? 0n;
  for (const { paid } of obligations.values()) cash += paid;
  return cash < 0n ? -cash : 0n;
}

/** In 10^-8 dollars, of a loan in 10^-4. */
function interestOn(loan: bigint, tiers: AuditedTiers): bigint {
  let sum = 0n;
  tiers.forEach(({ from, rateAnnualBps }, index) => {
    const next = tiers[index + 1];
    const end = next === undefined || BigInt(next.from) > loan ? loan : BigInt(next.from);
    if (end > BigInt(from)) sum += (end - BigInt(from)) * BigInt(rateAnnualBps);
  });
  return (sum + 180n) / 360n;
}
