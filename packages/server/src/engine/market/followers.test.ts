import { describe, expect, it } from 'vitest';
import { Instant } from '@sandpit/core';
import { StoreUnavailable } from '../../store/journal.js';
import { Followers } from './followers.js';
import type { MarketChange } from './market-change.js';

const CHANGE: MarketChange = { seq: 1, at: Instant.ofMs(0), quotes: [], listsSymbols: false, commands: [] };

/** A cell whose store commits nothing at first. */
class Cell {
  isCommitting = false;
  isOutOfService = false;
  passes = 0;

  offer(): void {
    // It applies everything at once.
  }

  apply(): Promise<void> {
    this.passes += 1;
    if (this.isCommitting) return Promise.resolve();
    return Promise.reject(new StoreUnavailable('the store is not accepting records'));
  }

  clockChanged(): void {
    // It has no timers.
  }
}

describe('Cells that follow a market', () => {
  it('are asked again for a change that they could not apply', async () => {
    const followers = new Followers<Cell>();
    const cell = new Cell();
    followers.add(cell);
    followers.hand(CHANGE);
    await expect(followers.applied()).rejects.toThrow(StoreUnavailable);
    cell.isCommitting = true;
    await followers.applied();
    const { passes } = cell;
    await followers.applied();
    expect(cell.passes).toBe(passes);
  });

  it('process a change of a hundred quotes after the turn of its decision, and a smaller one within it', async () => {
    const followers = new Followers<Cell>();
    const cell = new Cell();
    cell.isCommitting = true;
    followers.add(cell);
    const quote = { symbol: 'AAPL', at: CHANGE.at };
    followers.hand({ ...CHANGE, quotes: Array.from({ length: 99 }, () => quote) });
    expect(cell.passes).toBe(1);
    followers.hand({ ...CHANGE, quotes: Array.from({ length: 100 }, () => quote) });
    expect(cell.passes).toBe(1);
    await followers.applied();
    expect(cell.passes).toBe(2);
  });
});
