import type { Static } from 'typebox';
import { choice, closed, instant } from './fields.js';

export const Health = closed('Health', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'When it was checked.' }),
});
export type Health = Static<typeof Health>;
