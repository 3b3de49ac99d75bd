import type { Brokerage, Event, Outcome } from '@sandpit/core';

/** The tenants that a record concerns. */
export interface AffectedTenants {
  readonly tenants: ReadonlySet<string>;
  /** The market, or the simulation itself: what anybody sees may be another one. */
  readonly everybody: boolean;
}

/** Evaluated in the same turn as the decision: a portfolio that is closed later still exists. */
export function tenantsAffectedBy(
  { state }: Brokerage,
  { events, orders }: Pick<Outcome, 'events' | 'orders'>,
  byTenantId: string | undefined,
): AffectedTenants {
  const tenants = new Set<string>();
  // One that this very record has closed is its requester's.
  if (byTenantId !== undefined) tenants.add(byTenantId);
  let everybody = false;
  events.forEach((event, index) => {
    const order = orders[index];
    if (order !== undefined) tenants.add(order.terms.tenantId);
    else if (event.type === 'SessionMarked') for (const { portfolioId } of event.points) add(portfolioId);
    else if ('portfolioId' in event) add(event.portfolioId);
    else {
      const tenantId = tenantOf(event);
      if (tenantId === undefined) everybody = true;
      else tenants.add(tenantId);
    }
  });
  return { tenants, everybody };

  function add(portfolioId: string): void {
    const tenantId = state.portfolios.get(portfolioId)?.terms.tenantId;
    if (tenantId !== undefined) tenants.add(tenantId);
  }
}

function tenantOf(event: Event): string | undefined {
  if ('tenantId' in event) return event.tenantId;
  return event.type === 'PortfolioOpened' ? event.terms.tenantId : undefined;
}
