import type { Listing } from '@sandpit/core';
import { CATALOG } from '../catalog.js';

const index = (symbol: string, name: string) => ({ assetClass: 'INDEX', symbol, name }) as const;

/** Instruments of the synthetic market (D126). */
export const SYNTHETIC_LISTING: Listing = {
  instruments: [
    ...CATALOG.map((entry) => entry.equity),
    index('SPX', 'S&P 500'),
    index('XSP', 'Mini S&P 500'),
    index('NDX', 'Nasdaq-100'),
    index('RUT', 'Russell 2000'),
    index('VIX', 'Cboe Volatility Index'),
  ],
  hasOptions: true,
  futures: ['ES', 'MES', 'NQ', 'MNQ', 'RTY', 'M2K', 'YM', 'MYM', 'CL', 'GC', 'ZN'],
};
