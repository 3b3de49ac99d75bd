/** The settings of live market data (D181): which source, which plan, with which keys. */

export type LiveSettings = {
  readonly maxSymbols: number | undefined;
  /** Replacements of the source's endpoints; those of sockets include paths. */
  readonly url: string | undefined;
  readonly optionsUrl: string | undefined;
  readonly restUrl: string | undefined;
  readonly accountUrl: string | undefined;
} & (
  | {
      readonly source: 'alpaca';
      readonly plan: 'iex' | 'sip' | 'delayed_sip';
      readonly options: 'indicative' | 'opra' | 'none';
      readonly keyId: string;
      readonly secretKey: string;
    }
  | {
      readonly source: 'massive';
      readonly plan: 'realtime' | 'delayed';
      readonly options: 'on' | 'none';
      readonly apiKey: string;
    }
  | {
      readonly source: 'tradier';
      readonly plan: 'live' | 'sandbox';
      readonly options: 'on' | 'none';
      readonly token: string;
    }
);

/** Plans and option feeds of each source; the first is the default. */
const OFFERS = {
  alpaca: { plans: ['iex', 'sip', 'delayed_sip'], options: ['indicative', 'opra', 'none'] },
  massive: { plans: ['realtime', 'delayed'], options: ['on', 'none'] },
  tradier: { plans: ['live', 'sandbox'], options: ['on', 'none'] },
} as const;

type Environment = Readonly<Record<string, unknown>>;

const isSource = (name: unknown): name is keyof typeof OFFERS => typeof name === 'string' && name in OFFERS;

/** Problems in the settings of a live feed. */
export function liveProblems(
  env: Environment,
): readonly { readonly name: string; readonly problem: string }[] {
  if (env.MARKET_FEED !== 'live') return [];
  const source = env.LIVE_SOURCE;
  if (!isSource(source)) {
    const problem = 'is required when MARKET_FEED is live';
    return source === undefined ? [{ name: 'LIVE_SOURCE', problem }] : [];
  }
  const problems: { name: string; problem: string }[] = [];
  const { plans, options } = OFFERS[source];
  const choose = (name: string, offered: readonly string[]): void => {
    if (env[name] !== undefined && !offered.includes(env[name] as string))
      problems.push({ name, problem: `must be one of ${offered.join(', ')} when LIVE_SOURCE is ${source}` });
  };
  choose('LIVE_PLAN', plans);
  choose('LIVE_OPTIONS', options);
  for (const name of missingKeys(env, source))
    problems.push({ name, problem: `is required when LIVE_SOURCE is ${source}` });
  if (env.MARKET_CALENDAR !== undefined && env.MARKET_CALENDAR !== 'XNYS')
    problems.push({ name: 'MARKET_CALENDAR', problem: 'must be XNYS when MARKET_FEED is live' });
  const clock = env.MARKET_CLOCK;
  if (clock !== 'wall' && !isTestClock(env))
    problems.push({
      name: 'MARKET_CLOCK',
      problem:
        'must be wall when MARKET_FEED is live; scaled is for tests, with CLOCK_SPEED=1, CLOCK_START and a LIVE_URL on this machine',
    });
  return problems;
}

function missingKeys(env: Environment, source: keyof typeof OFFERS): readonly string[] {
  switch (source) {
    case 'alpaca':
      return ['APCA_API_KEY_ID', 'APCA_API_SECRET_KEY'].filter((name) => env[name] === undefined);
    case 'massive':
      return env.MASSIVE_API_KEY === undefined && env.POLYGON_API_KEY === undefined
        ? ['MASSIVE_API_KEY']
        : [];
    case 'tradier':
      return env.TRADIER_TOKEN === undefined ? ['TRADIER_TOKEN'] : [];
  }
}

/** A clock with another start at real speed, for a source on this machine (D222). */
const isTestClock = (env: Environment): boolean =>
  env.MARKET_CLOCK === 'scaled' &&
  env.CLOCK_SPEED === 1 &&
  env.CLOCK_START !== undefined &&
  isLoopbackUrl(env.LIVE_URL);

function isLoopbackUrl(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** The settings of a live feed, once they have been checked. */
export function liveSettingsFrom(env: Environment): LiveSettings {
  const source = env.LIVE_SOURCE as keyof typeof OFFERS;
  const text = (name: string): string | undefined => env[name] as string | undefined;
  const { plans, options } = OFFERS[source];
  return {
    source,
    plan: text('LIVE_PLAN') ?? plans[0],
    options: text('LIVE_OPTIONS') ?? options[0],
    maxSymbols: env.LIVE_MAX_SYMBOLS as number | undefined,
    url: text('LIVE_URL'),
    optionsUrl: text('LIVE_OPTIONS_URL'),
    restUrl: text('LIVE_REST_URL'),
    accountUrl: text('LIVE_ACCOUNT_URL'),
    keyId: text('APCA_API_KEY_ID'),
    secretKey: text('APCA_API_SECRET_KEY'),
    apiKey: text('MASSIVE_API_KEY') ?? text('POLYGON_API_KEY'),
    token: text('TRADIER_TOKEN'),
  } as LiveSettings;
}
