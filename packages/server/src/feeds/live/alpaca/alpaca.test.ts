import { sourceContract } from '../source.contract.js';
import { ALPACA_KEY, ALPACA_SECRET, FakeAlpaca } from '../testing/fake-alpaca.js';

sourceContract({
  name: 'alpaca',
  start: () => new FakeAlpaca().start(),
  settings: ({ url, origin }, isKnown) => ({
    LIVE_SOURCE: 'alpaca',
    LIVE_URL: url,
    LIVE_OPTIONS: 'none',
    LIVE_REST_URL: origin,
    LIVE_ACCOUNT_URL: origin,
    APCA_API_KEY_ID: ALPACA_KEY,
    APCA_API_SECRET_KEY: isKnown ? ALPACA_SECRET : 'wrong-key',
  }),
  secrets: [ALPACA_KEY, ALPACA_SECRET],
  withoutPlan: {
    prepare: (source) => void (source.hasPlan = false),
    says: /plan of this key does not include iex/,
  },
  refusal: /refuses/,
  halts: 'full',
});
