import { sourceContract } from '../source.contract.js';
import { ALPACA } from '../testing/vendors.js';

sourceContract({
  ...ALPACA,
  withoutPlan: {
    prepare: (source) => void (source.hasPlan = false),
    says: /plan of this key does not include iex/,
  },
});
