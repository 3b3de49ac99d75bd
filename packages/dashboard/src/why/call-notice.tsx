/** Amount of an open margin call and the ways to meet it. */
import type { PortfolioUpdate } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { hrefOf } from '../route.ts';
import { useClockMoves } from '../clock-moves.ts';
import { callAdvice, saleFor } from './call-advice.ts';
import { Rule } from './rule.tsx';

export function CallNotice({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId, marginCallActive } = portfolio;
  const found = useLoad(
    () =>
      marginCallActive
        ? broker.call('getPortfolioMargin', { params: { portfolioId } })
        : Promise.resolve(undefined),
    [portfolioId, marginCallActive],
  );
  // The amount due moves with the market.
  useEffect(() => found.reload(), [portfolio.updatedAt, portfolio.totalEquity]);
  useClockMoves(found.reload);
  if (!marginCallActive) return null;
  const { calls = [], groups = [] } = found.value ?? {};
  return (
    <div class="notice problem" role="status" aria-label="Margin call">
      {calls.length === 0 && <p>Margin call: trading is restricted until it is met.</p>}
      {calls.map((call) => {
        const sale = saleFor(call, groups);
        const symbol = sale === undefined ? undefined : encodeURIComponent(sale.symbol);
        return (
          <p key={call.callId}>
            <strong>{words(call.type)} call:</strong> {callAdvice(call, groups)} by {moment(call.dueAt)}.{' '}
            <a href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`, { section: 'manage' })}>
              Deposit
            </a>
            {sale !== undefined && symbol !== undefined && (
              <>
                {' · '}
                <a
                  href={hrefOf(broker.simulationId, `trade/${symbol}`, {
                    portfolio: portfolioId,
                    symbol: sale.symbol,
                    kind: 'EQUITY',
                    intent: sale.isShort ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE',
                    quantity: sale.quantity,
                  })}
                >
                  {sale.isShort ? 'Buy back' : 'Sell'}
                </a>
              </>
            )}
            {' · '}
            <Rule name="calls">Why</Rule>
          </p>
        );
      })}
      <p>
        Until it is met only orders that reduce risk are accepted.{' '}
        <a href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`, { section: 'power' })}>
          Margin call history
        </a>
      </p>
    </div>
  );
}
