/** An installation with many tenants, for `cluster-cells.ts`. */
import { Money } from '../packages/core/dist/index.js';
import { compose } from '../packages/server/dist/compose.js';
import { readSettings } from '../packages/server/dist/config.js';
import { restingOrder, symbolOf } from './orders.js';
import { pushQuotes } from './simulation.js';

const AT_ONCE = 200;

/** Keeps a `main` of each tenant, with an account, a portfolio and, for one in `restingOneIn`, an open order. */
export async function keepMains(
  env: NodeJS.ProcessEnv,
  tenants: number,
  restingOneIn = Infinity,
): Promise<void> {
  const { store, simulations } = await compose(readSettings(env), (error) => {
    throw error;
  });
  if (restingOneIn !== Infinity) await pushQuotes(simulations.market, [symbolOf(0)]);
  const keep = async (index: number): Promise<void> => {
    const tenantId = `tenant-${index}`;
    const main = await simulations.creation.keepMain(tenantId);
    const { result } = await main.submit<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by: { tier: 'PRO' },
      accountId: '11111111-1111-4111-8111-111111111111',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      fillModel: 'quote',
      initialCash: Money.ofDollars(100_000),
      proAccounts: 10,
    });
    if (index % restingOneIn !== 0 || !('terms' in result)) return;
    const { portfolioId } = result.terms;
    const order = restingOrder({ portfolioId, symbol: symbolOf(0) });
    await main.submit<'SubmitOrder'>({ type: 'SubmitOrder', by: { tier: 'PRO' }, order });
  };
  for (let from = 0; from < tenants; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, tenants - from) }, (_, index) => keep(from + index)),
    );
  await simulations.close();
  await store.close();
}
