import type { Static } from 'typebox';
import { anyText, choice, closed, instant, listOf } from './fields.js';

export const Health = closed('Health', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'When it was checked.' }),
});
export type Health = Static<typeof Health>;

/** Health with its reasons (D158). */
export const Readiness = closed('Readiness', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'When it was checked.' }),
  reasons: listOf(anyText(), {
    description: 'What is not as it should be; with `ok`, what does not stop the service.',
  }),
});
export type Readiness = Static<typeof Readiness>;
