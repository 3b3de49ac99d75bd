import { testProjection } from '../fixtures.contract.js';
import { historyContract } from '../history.contract.js';
import { journalContract } from '../journal.contract.js';
import { registryContract } from '../registry.contract.js';
import { webhookContract } from '../webhooks.contract.js';
import { openMemoryStore } from './memory-store.js';

const underTest = { open: () => Promise.resolve(openMemoryStore({ project: testProjection })) };

journalContract('The memory store', underTest);
historyContract('The memory store', underTest);
registryContract('The memory store', underTest);
webhookContract('memory', underTest.open);
