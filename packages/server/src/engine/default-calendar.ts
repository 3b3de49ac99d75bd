import type { SimulationConfig } from './simulations.js';

/** Made-up quotes may trade at any hour, so that a first order fills; a real market keeps its hours (D34). */
export const defaultCalendar = (feed: SimulationConfig['feed']): 'XNYS' | 'always-open' =>
  feed === 'synthetic' ? 'always-open' : 'XNYS';
