/** How the store knows the cells of tenants, and what belongs to them. */

/** The simulation of a tenant that is there without being made: its cell on the market of the installation. */
export const MAIN = 'main';

/** The market of the installation: a journal without portfolios, which every `main` follows. */
export const MARKET = 'market';

/** What the id of every `main` begins with. */
export const MAINS = `${MAIN}/`;

/** How the store knows the `main` of a tenant. No id of a created simulation looks like it. */
export const mainOf = (tenantId: string): string =>
  `${MAINS}${tenantId.replaceAll('%', '%25').replaceAll('/', '%2F')}`;

/** Settings under which the registry notes whose `main` has something at stake: those are open from the start on. */
export const AT_STAKE = 'at-stake/';

export const atStakeOf = (tenantId: string): string => `${AT_STAKE}${tenantId}`;
