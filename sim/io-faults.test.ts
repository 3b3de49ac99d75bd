import { expect, it } from 'vitest';
import { FaultyDisk } from './faults/faulty-disk.js';
import { ioFaults } from './io-faults.js';

const disk = FaultyDisk.build();
if (typeof disk === 'object') disk.remove();

it.skipIf(typeof disk === 'string')(
  `A disk that fails ends the server with a clear word, and nothing that was acknowledged is lost${typeof disk === 'string' ? ` (skipped: ${disk})` : ''}`,
  async () => {
    const report = await ioFaults({ actions: ['EIO', 'ENOSPC'], from: 130, every: 260 });
    expect(report).toMatchObject({ problems: [] });
  },
  120_000,
);
