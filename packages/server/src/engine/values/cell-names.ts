/** Names under which the store keeps the cells of tenants, and the settings that belong to them. */

/** The simulation that every tenant has without creating it: its cell on the market of the installation. */
export const MAIN = 'main';

/** The market of the installation: a journal without portfolios, which every `main` follows. */
export const MARKET = 'market';

/** Prefix of the id of every `main`. */
export const MAINS = `${MAIN}/`;

/** Id of a tenant's `main` in the store. It differs from the id of every created simulation. */
export const mainOf = (tenantId: string): string =>
  `${MAINS}${tenantId.replaceAll('%', '%25').replaceAll('/', '%2F')}`;

/** Prefix of the ids of the cells of evaluations. Their tenants cannot name them: they are in the exported file alone. */
export const EVALUATION_CELLS = 'evaluation/';

/** True for ids that no request can name. */
export const isUnnamed = (id: string): boolean => id.startsWith(MAINS) || id.startsWith(EVALUATION_CELLS);

export const evaluationCellOf = (cellId: string): string => `${EVALUATION_CELLS}${cellId}`;

/** Settings of the registry with the tenants whose `main` has open orders or positions: these are opened at the start. */
export const AT_STAKE = 'at-stake/';

export const atStakeOf = (tenantId: string): string => `${AT_STAKE}${tenantId}`;

/** Prefix of the settings with results of comparisons, each of which names its tenant. */
export const COMPARISONS = 'comparison/';
