import { expect, it } from 'vitest';
import { FaultyDisk } from './faults/faulty-disk.js';
import { ioFaults } from './io-faults.js';

const disk = FaultyDisk.build();
if (typeof disk === 'object') disk.remove();

it.skipIf(typeof disk === 'string')(
  `A failing disk call ends the server with an error message or is recovered from, and no acknowledged request is lost${typeof disk === 'string' ? ` (skipped: ${disk})` : ''}`,
  async () => {
    const report = await ioFaults({ actions: ['EIO', 'ENOSPC'], from: 130, every: 260 });
    expect(report).toMatchObject({ problems: [] });
  },
  120_000,
);
