import { standbyFrom } from '../../engine/recovery/checkpoint.js';
import { historyContract } from '../history.contract.js';
import { journalContract } from '../journal.contract.js';
import { registryContract } from '../registry.contract.js';
import { webhookContract } from '../webhooks.contract.js';
import { openMemoryStore } from './memory-store.js';

const open = () => openMemoryStore({ standbyFrom });

journalContract('The store in memory', { open });
historyContract('The store in memory', { open });
registryContract('The store in memory', { open });
webhookContract('memory', open);
