import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Broker, BrokerContext } from './broker.ts';
import { useAnnouncements } from './alerts/announcer.ts';
import { OwnEntryContext, useReadOwnEntry } from './live/own-entry.ts';
import { errorFrom } from './load.ts';
import { Login, LoginLink } from './pages/login.tsx';
import { Overview } from './pages/overview.tsx';
import { Banner } from './shell/banner.tsx';
import { Empty, Problem } from './parts/notice.tsx';
import { go, hrefOf, type DashboardRoute, useRoute } from './route.ts';
import { allTokens, claimsOf, keepToken, MAIN, resumedToken, tokenFor } from './session.ts';
import { useKeyboard } from './keyboard.ts';
import { Rail } from './shell/rail.tsx';
import { ThemeMenu } from './shell/theme-menu.tsx';
import { PAGES as MENU } from './shell/pages.ts';
import { RulePanel } from './why/rule-panel.tsx';
import { Toaster } from './ui/toaster.tsx';

/** Pages that are loaded on first use. */
const later = (load: () => Promise<ComponentType<{ place: DashboardRoute }>>) =>
  function Later({ place }: { place: DashboardRoute }) {
    const [page, setPage] = useState<{ Page?: ComponentType<{ place: DashboardRoute }>; error?: Error }>({});
    useEffect(() => {
      load().then(
        (Page) => setPage({ Page }),
        (error: unknown) => setPage({ error: errorFrom(error) }),
      );
    }, []);
    if (page.error !== undefined) return <Problem error={page.error} retry={() => location.reload()} />;
    return page.Page === undefined ? <p class="waiting">Loading …</p> : <page.Page place={place} />;
  };

const Trade = later(async () => (await import('./trade/trade-page.tsx')).TradePage);

/** For a visitor too. */
const Competitions = later(async () => (await import('./compete/competition-page.tsx')).CompetitionsPage);

const PAGES: Readonly<Record<string, ComponentType<{ place: DashboardRoute }>>> = {
  '': Overview,
  portfolio: later(async () => (await import('./pages/portfolio.tsx')).PortfolioPage),
  orders: later(async () => (await import('./pages/orders.tsx')).Orders),
  ticket: Trade,
  trade: Trade,
  market: Trade,
  activity: later(async () => (await import('./pages/activity.tsx')).ActivityPage),
  analytics: later(async () => (await import('./pages/analytics.tsx')).Analytics),
  compare: later(async () => (await import('./pages/compare.tsx')).ComparePage),
  administration: later(async () => (await import('./pages/administration.tsx')).Administration),
  competitions: Competitions,
  evaluations: later(async () => (await import('./pages/evaluations.tsx')).EvaluationsPage),
  invitations: later(async () => (await import('./invite/invitations-page.tsx')).InvitationsPage),
  time: later(async () => (await import('./pages/time-machine.tsx')).TimeMachinePage),
  simulations: later(async () => (await import('./pages/simulations.tsx')).Simulations),
  alerts: later(async () => (await import('./alerts/alerts-page.tsx')).AlertsPage),
  webhooks: later(async () => (await import('./pages/webhooks.tsx')).Webhooks),
  developer: later(async () => (await import('./pages/developer.tsx')).Developer),
};

/** The palette comes when it is first opened. */
function Palette(props: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const [found, setFound] = useState<{ readonly Palette?: ComponentType<typeof props> }>({});
  useEffect(() => {
    void import('./shell/palette.tsx').then(setFound);
  }, []);
  return found.Palette === undefined ? null : <found.Palette {...props} />;
}

/** The help comes when it is first opened. */
function Help(props: { readonly onClose: () => void }) {
  const [found, setFound] = useState<{ readonly Help?: ComponentType<typeof props> }>({});
  useEffect(() => {
    void import('./shell/help.tsx').then(setFound);
  }, []);
  return found.Help === undefined ? null : <found.Help {...props} />;
}

/** The developer panel comes when it is first opened. */
function Developing(props: { readonly page: string; readonly onClose: () => void }) {
  const [found, setFound] = useState<{ readonly DeveloperPanel?: ComponentType<typeof props> }>({});
  useEffect(() => {
    void import('./dev/developer-panel.tsx').then(setFound);
  }, []);
  return found.DeveloperPanel === undefined ? null : <found.DeveloperPanel {...props} />;
}

export function App() {
  const place = useRoute();
  const [page = '', code = ''] = place.path;
  if (page === 'login') return code === '' ? <Login place={place} /> : <LoginLink code={code} />;
  if (page === 'competitions' && tokenFor(place.simulationId) === undefined)
    return (
      <>
        <header class="banner">
          <div class="strip">
            <span class="brand">Sandpit</span>
            <strong class="simulated">SIMULATED</strong>
            <span class="inline tools">
              <ThemeMenu />
              <a href={hrefOf(MAIN, '')}>Log in</a>
            </span>
          </div>
        </header>
        <main class="visitor">
          <Competitions place={place} />
        </main>
      </>
    );
  return <Entry key={place.simulationId} place={place} />;
}

/** Finds the token for the simulation of the address, and requests one if there is none. */
function Entry({ place }: { readonly place: DashboardRoute }) {
  const { simulationId } = place;
  const [token, setToken] = useState(() => tokenFor(simulationId));
  const [error, setError] = useState<Error>();
  const [isResuming, setIsResuming] = useState(token === undefined && allTokens().length === 0);
  useEffect(() => {
    if (!isResuming) return;
    const show = (resumed: string | undefined): void => {
      const home = resumed === undefined ? undefined : keepToken(resumed);
      if (home === simulationId) setToken(resumed);
      else if (home !== undefined) go(hrefOf(home, ''));
      setIsResuming(false);
    };
    resumedToken().then(show, () => show(undefined));
  }, [isResuming]);
  useEffect(() => {
    const home = token === undefined && simulationId !== MAIN ? brokerOf(tokenFor(MAIN)) : undefined;
    if (home === undefined) return;
    home.call('createSimulationToken', { params: { simulationId } }).then(
      (issued) => {
        keepToken(issued.token);
        setToken(issued.token);
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  }, [simulationId]);
  const broker = useMemo(() => brokerOf(token), [token]);
  if (error !== undefined)
    return (
      <main class="alone">
        <Problem error={error} />
        <p>
          <a href={hrefOf(MAIN, '')}>Go to main simulation</a>
        </p>
      </main>
    );
  if (isResuming) return <p class="waiting">Loading …</p>;
  if (broker === undefined)
    return simulationId === MAIN || tokenFor(MAIN) === undefined ? (
      <Login place={place} />
    ) : (
      <p class="waiting">Opening the simulation …</p>
    );
  return (
    <BrokerContext.Provider value={broker}>
      <Frame place={place} broker={broker} />
    </BrokerContext.Provider>
  );
}

function brokerOf(token: string | undefined): Broker | undefined {
  const claims = token === undefined ? undefined : claimsOf(token);
  return token === undefined || claims === undefined ? undefined : new Broker(token, claims);
}

function Frame({ place, broker }: { readonly place: DashboardRoute; readonly broker: Broker }) {
  const [name = ''] = place.path;
  const { simulationId } = broker;
  const Page = PAGES[name];
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const [isFinding, setIsFinding] = useState(false);
  const [isDeveloping, setIsDeveloping] = useState(false);
  const [isHelping, setIsHelping] = useState(false);
  useKeyboard(
    place,
    () => setIsFinding(true),
    () => setIsHelping(true),
  );
  useAnnouncements(broker);
  useEffect(() => {
    let stop: (() => void) | undefined;
    let isOver = false;
    if (!broker.claims.isEntry)
      void import('./alerts/alert-watch.ts').then(({ AlertWatch }) => {
        if (!isOver) stop = new AlertWatch(broker).start();
      });
    return () => {
      isOver = true;
      stop?.();
    };
  }, [broker]);
  useEffect(() => {
    const title = MENU.find(({ path }) => path === (isTrade(name) ? 'trade' : name))?.title ?? name;
    document.title = `${title} · Sandpit`;
    // Focus moves to the new page, unless the page has set it already.
    const isInPage = main.current?.contains(document.activeElement) === true;
    if (!isFirst.current && !isInPage) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [isTrade(name) ? 'trade' : name]);
  const entry = useReadOwnEntry(broker);
  return (
    <OwnEntryContext.Provider value={entry}>
      <div class="frame">
        <a class="skip" href="#content" onClick={skip}>
          Skip to content
        </a>
        <Banner
          onFind={() => setIsFinding(true)}
          isDeveloping={isDeveloping}
          onDevelop={() => setIsDeveloping(!isDeveloping)}
        />
        <Rail current={isTrade(name) ? 'trade' : name} />
        <main id="content" tabIndex={-1} ref={main} data-page={isTrade(name) ? 'trade' : name}>
          <Boundary key={isTrade(name) ? 'trade' : place.path.join('/')}>
            {Page === undefined ? (
              <Empty>
                <h1>Page not found</h1>
                <a href={hrefOf(simulationId, '')}>Back to overview</a>
              </Empty>
            ) : (
              <Page place={place} />
            )}
          </Boundary>
        </main>
        {isFinding && <Palette onClose={() => setIsFinding(false)} onHelp={() => setIsHelping(true)} />}
        {isHelping && <Help onClose={() => setIsHelping(false)} />}
        {isDeveloping && <Developing page={place.path.join('/')} onClose={() => setIsDeveloping(false)} />}
        <RulePanel />
        <Toaster />
      </div>
    </OwnEntryContext.Provider>
  );
}

/** The addresses of the trade page, its former two included. */
const isTrade = (name: string): boolean => ['trade', 'ticket', 'market'].includes(name);

function skip(event: Event): void {
  // The address after `#` is the location.
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** A page that throws shows an error; the rest stays. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static override getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: errorFrom(error) };
  }

  override render() {
    const { error } = this.state;
    return error === undefined ? (
      this.props.children
    ) : (
      <Problem error={error} retry={() => this.setState({ error: undefined as never })} />
    );
  }
}
