import type { Event } from '../event.js';
import type { MarginAccount } from '../margin/margin-account.js';

/** Events with margin figures. */
export type MarginEvent = Extract<
  Event,
  {
    type:
      | 'SmaChanged'
      | 'SessionMarked'
      | 'DayShortfallNoted'
      | 'CallIssued'
      | 'CallDue'
      | 'CallClosed'
      | 'InterestAccrued'
      | 'AccrualsPosted'
      | 'MarginWarned'
      | 'LiquidationDecided';
  }
>;

interface AuditedMarginState {
  sma: bigint;
  shortfall: { readonly date: string; readonly amount: number } | undefined;
  readonly calls: Set<number>;
  interest: bigint;
  borrowFees: bigint;
}

/** Margin state of portfolios besides their books, summed up from the events alone. Part of the auditor. */
export class AuditedMargin {
  readonly #kept = new Map<string, AuditedMarginState>();

  /** Throws on a violation. */
  note(event: MarginEvent): void {
    switch (event.type) {
      case 'SmaChanged':
        return this.#changeSma(event.portfolioId, event);
      case 'SessionMarked':
        for (const { portfolioId, sma } of event.points) {
          if (sma === undefined) continue;
          insist(sma.amount > 0, 'a close that lowers a memorandum account');
          this.#changeSma(portfolioId, sma);
        }
        return;
      case 'CallIssued': {
        const { calls } = this.#of(event.portfolioId);
        insist(!calls.has(event.call.number), 'a call is issued twice');
        insist(event.call.amount > 0, 'a call for nothing');
        this.#insistOnShortfall(event);
        calls.add(event.call.number);
        return;
      }
      case 'CallDue':
        return insist(
          this.#of(event.portfolioId).calls.has(event.call.number),
          'a call is due that is not open',
        );
      case 'CallClosed':
        return insist(
          this.#of(event.portfolioId).calls.delete(event.call.number),
          'a call is closed that is not open',
        );
      case 'InterestAccrued':
        for (const { portfolioId, interest, borrowFees } of event.points) {
          insist(interest >= 0 && borrowFees >= 0, 'interest is paid out');
          const kept = this.#of(portfolioId);
          kept.interest += big(interest);
          kept.borrowFees += big(borrowFees);
        }
        return;
      case 'AccrualsPosted': {
        const kept = this.#of(event.portfolioId);
        kept.interest -= big(event.interest);
        kept.borrowFees -= big(event.borrowFees);
        return insist(kept.interest >= 0n && kept.borrowFees >= 0n, 'more is posted than has accrued');
      }
      case 'DayShortfallNoted': {
        const kept = this.#of(event.portfolioId);
        const before = kept.shortfall;
        insist(event.amount > 0, 'a shortfall of nothing');
        insist(
          before === undefined || before.date < event.date || before.amount < event.amount,
          'a shortfall that is not the greatest of its day',
        );
        kept.shortfall = event;
        return;
      }
      case 'MarginWarned':
        return insist(event.excess >= 0, 'a warning of what is a call');
      case 'LiquidationDecided':
        return insist(event.deficit > 0 && event.freed > 0, 'a liquidation without a reason, or an effect');
    }
  }

  #changeSma(
    portfolioId: string,
    { amount, balance }: { readonly amount: number; readonly balance: number },
  ): void {
    const kept = this.#of(portfolioId);
    insist(amount !== 0, 'a change of nothing in a memorandum account');
    kept.sma += big(amount);
    insist(kept.sma === big(balance), 'a memorandum account that its changes do not add up to');
  }

  /** A call for a day's trades must match the shortfall noted on that day. */
  #insistOnShortfall({ portfolioId, call }: Extract<MarginEvent, { type: 'CallIssued' }>): void {
    if (call.type !== 'INTRADAY' && call.type !== 'DAY_TRADE') return;
    const { shortfall } = this.#of(portfolioId);
    insist(shortfall?.amount === call.amount, 'a call about trades that were short of nothing');
  }

  /** A portfolio is closed: it must have no debts and no calls (D212). */
  close(portfolioId: string): void {
    const { calls, interest, borrowFees } = this.#of(portfolioId);
    insist(calls.size === 0, 'a portfolio is closed in a call');
    insist(interest === 0n && borrowFees === 0n, 'a portfolio is closed with accruals');
    this.forget(portfolioId);
  }

  /** Forgets a portfolio that is reset. */
  forget(portfolioId: string): void {
    this.#kept.delete(portfolioId);
  }

  /** Differences to the core's margin account. */
  differences(portfolioId: string, core: MarginAccount): readonly string[] {
    const { sma, calls, interest, borrowFees } = this.#of(portfolioId);
    return [
      ...(big(core.sma) === sma ? [] : [`memorandum account ${core.sma}, audited ${sma}`]),
      ...(core.calls.map(({ number }) => number).join() === [...calls].join()
        ? []
        : ['other calls are open']),
      ...(big(core.interest) === interest && big(core.borrowFees) === borrowFees ? [] : ['accruals differ']),
    ];
  }

  #of(portfolioId: string): AuditedMarginState {
    let kept = this.#kept.get(portfolioId);
    if (kept === undefined) {
      kept = { sma: 0n, shortfall: undefined, calls: new Set(), interest: 0n, borrowFees: 0n };
      this.#kept.set(portfolioId, kept);
    }
    return kept;
  }
}

function insist(condition: boolean, what: string): void {
  if (!condition) throw new Error(`audit: ${what}`);
}

function big(value: number): bigint {
  insist(Number.isSafeInteger(value), `${value} is not an exact integer`);
  return BigInt(value);
}
