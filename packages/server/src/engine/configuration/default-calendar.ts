import type { SimulationConfig } from '../configuration/simulation-config.js';

/** Synthetic quotes may trade at any hour, so that a first order fills; a real market has its hours (D34). */
export const defaultCalendar = (feed: SimulationConfig['feed']): 'XNYS' | 'always-open' =>
  feed === 'synthetic' ? 'always-open' : 'XNYS';
