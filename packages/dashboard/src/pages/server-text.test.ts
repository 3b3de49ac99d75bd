import type { ServerFigures } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { bytesText, msText, rateText, toneOfServer, uptimeText } from './server-text.ts';

describe('Figures of a server', () => {
  it('sizes have a unit that keeps them short', () => {
    expect([0, 999, 1000, 1_440_000_000, 999_960_000, 6.1e16].map(bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.4 GB',
      '1.0 GB',
      '61.0 PB',
    ]);
  });

  it('rates, times and uptimes are read at a glance', () => {
    expect([0, 0.017, 12.54].map(rateText)).toEqual(['0/s', '0.02/s', '12.5/s']);
    expect([undefined, 1.94, 38.4, 1340].map(msText)).toEqual(['–', '1.9 ms', '38 ms', '1.3 s']);
    expect([59, 720, 7_500, 273_600].map(uptimeText)).toEqual(['0 min', '12 min', '2 h 5 min', '3 d 4 h']);
  });

  it('failures, slow answers, broken simulations and a full disk are marked', () => {
    const figures = {
      traffic: { failuresPerSecond: 0, p99Ms: 20 },
      cells: { outOfService: 0 },
      disk: { freeBytes: 5e10 },
    } as unknown as ServerFigures;
    expect(Object.values(toneOfServer(figures))).toEqual(['', '', '', '']);
    const bad = {
      traffic: { failuresPerSecond: 0.1, p99Ms: 251 },
      cells: { outOfService: 1 },
      disk: { freeBytes: 9e8 },
    } as unknown as ServerFigures;
    expect(Object.values(toneOfServer(bad))).toEqual(['down', 'down', 'down', 'down']);
  });
});
