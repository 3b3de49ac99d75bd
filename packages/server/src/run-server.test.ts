import { describe, expect, it } from 'vitest';
import { isPassing } from './run-server.js';
import { DamagedJournal, StoreUnavailable, UnusableDatabase } from './store/journal.js';

describe('A node that begins again under another incarnation', () => {
  it('tries again while the database is gone or fails over, and while its port is in use', () => {
    expect(isPassing(new StoreUnavailable('no connection'))).toBe(true);
    expect(isPassing(new UnusableDatabase('DATABASE_URL: the standby is read-only'))).toBe(true);
    expect(isPassing(Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }))).toBe(true);
  });

  it('ends with errors that another attempt cannot mend', () => {
    expect(isPassing(new DamagedJournal('a block is missing'))).toBe(false);
    expect(isPassing(new Error('a bug'))).toBe(false);
  });
});
