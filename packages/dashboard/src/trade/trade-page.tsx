/** The page to trade on: watch list, chart or chain, ticket, and the portfolio below; on a phone each in its own tab. */
import { barTimeframes, type PortfolioDetail } from '@sandpit/protocol';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { AlertButton } from '../alerts/alert-button.tsx';
import { useBroker } from '../broker.ts';
import { change, percentChange, price, quantity, tone } from '../format.ts';
import { isOpenOrder, useOrders } from '../live/orders.ts';
import { usePortfolio } from '../live/portfolio.ts';
import { type QuoteFeed, useQuote, useQuoteFeed } from '../live/quotes.ts';
import { errorFrom, useLoad } from '../load.ts';
import { kindOfSymbol, legsOf, optionNamed } from '../option-legs.ts';
import { CorporateActions, PushQuote } from './market-control.tsx';
import { FlashingPrice } from '../parts/flashing-price.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { portfoliosOf } from '../parts/portfolio-choice.tsx';
import { type DashboardRoute, hrefOf, setQuery } from '../route.ts';
import { Split } from '../ui/split.tsx';
import { TabPanels } from '../ui/tab-panels.tsx';
import { Dock } from './dock.tsx';
import { limitAtMiddle, sideOfQuote, useMarketSide } from './market-side.ts';
import { OptionPanel } from './option-panel.tsx';
import { comparedIn } from './percent-change.ts';
import { usePreview } from './preview.tsx';
import { PriceChart } from './price-chart.tsx';
import { heldIn, Ticket } from './ticket.tsx';
import { kindOfTicket, missingOf, orderOf, ticketOf } from './ticket-body.ts';
import { ticketLines } from './ticket-lines.ts';
import { rearmTicket } from './ticket-state.ts';
import { useDays } from './watch-figures.ts';
import { WatchList } from './watch-list.tsx';
import { keepSets, readSets, symbolsOf } from './watch-sets.ts';

const FIRST_SYMBOL = 'AAPL';
/** Below this width the parts are in tabs. */
const NARROW = '(max-width: 900px)';
/** Below this width the chain and the payoff take the place of the watch list. */
const MEDIUM = '(max-width: 1499px)';

export function TradePage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { query } = place;
  const asked = query.get('portfolio');
  const portfolios = useLoad(() => portfoliosOf(broker, asked ?? undefined), [asked]);
  const problem = useAddress(place) ?? (portfolios.value === undefined ? portfolios.error : undefined);
  if (problem !== undefined)
    return (
      <>
        <h1>Trade</h1>
        <Problem error={problem} retry={portfolios.reload} />
        <p>
          <a href={hrefOf(broker.simulationId, 'trade')}>Clear the ticket</a>
        </p>
      </>
    );
  if (portfolios.value === undefined) return <p class="waiting">Loading …</p>;
  const symbol = (query.get('symbol') ?? place.path[1] ?? FIRST_SYMBOL).toUpperCase();
  return (
    <Desk
      query={query}
      symbol={symbol}
      portfolios={portfolios.value}
      portfolioId={asked ?? portfolios.value[0]?.portfolioId}
    />
  );
}

/** Turns former addresses and `again` into addresses of this page. Returns why an order could not be repeated. */
function useAddress({ path, query, simulationId }: DashboardRoute): Error | undefined {
  const broker = useBroker();
  const [error, setError] = useState<Error>();
  const again = query.get('again');
  const named = query.get('symbol');
  const [page = '', symbol] = path;
  useEffect(() => {
    if (again !== null || (page === 'trade' && named === null)) return;
    const rest = Object.fromEntries([...query].filter(([name]) => name !== 'symbol' && name !== 'kind'));
    replaceAddress(hrefOf(simulationId, addressOf(named ?? symbol), rest));
  }, [page, named, again]);
  useEffect(() => {
    if (again === null) return;
    broker.call('getOrder', { params: { orderId: again } }).then(
      (order) => {
        const { symbol: of, ...ticket } = ticketOf(order);
        rearmTicket();
        replaceAddress(hrefOf(simulationId, addressOf(String(of)), ticket));
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  }, [again]);
  return error;
}

const addressOf = (symbol: string | undefined): string =>
  symbol === undefined || symbol === '' ? 'trade' : `trade/${encodeURIComponent(symbol)}`;

function replaceAddress(href: string): void {
  history.replaceState(null, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function Desk({
  query,
  symbol: asked,
  portfolios,
  portfolioId,
}: {
  readonly query: URLSearchParams;
  readonly symbol: string;
  readonly portfolios: readonly PortfolioDetail[];
  readonly portfolioId: string | undefined;
}) {
  const broker = useBroker();
  const [sets, setSets] = useState(readSets);
  const watched = symbolsOf(sets);
  const legs = useMemo(() => legsOf(query.get('legs') ?? ''), [query.get('legs')]);
  const contract = legs.length === 1 ? legs[0]?.optionSymbol : undefined;
  const symbol = contract ?? asked;
  const charted = optionNamed(asked)?.underlying ?? asked;
  const legSymbols = legs.map(({ optionSymbol }) => optionSymbol);
  const compared = useMemo(
    () => comparedIn(query.get('compare') ?? '', charted),
    [query.get('compare'), charted],
  );
  const feed = useQuoteFeed([...watched, symbol, charted, ...legSymbols, ...compared]);
  const { value: portfolio } = usePortfolio(portfolioId ?? '');
  const orders = useOrders({ portfolioId });
  const market = useMarketSide(feed, symbol, legs);
  const instrument = useLoad(
    async () =>
      (await broker.call('listInstruments', { query: { symbol, limit: 1 } })).data.find(
        (one) => one.symbol === symbol,
      ),
    [symbol],
  ).value;
  const isBuy = !(query.get('intent') ?? 'BUY').startsWith('SELL');
  const entry = isBuy ? market.ask : market.bid;
  const text = query.toString();
  const order = useMemo(
    () =>
      orderOf(query, portfolioId ?? '', legs.length > 1 ? charted : symbol, entry, instrument?.multiplier),
    // Only exits in percent or dollars depend on the market.
    [text, portfolioId, symbol, instrument, /Unit=/.test(text) ? entry : undefined],
  );
  const missing = portfolioId === undefined ? 'Open a portfolio first.' : missingOf(query, symbol);
  const mayTrade = broker.may('trade');
  const preview = usePreview(
    missing === undefined && mayTrade ? order : undefined,
    feed,
    legs.length > 1 ? legSymbols : [symbol],
  );
  const held = heldIn(portfolio, symbol);
  const side = query.get('side');
  useEffect(() => {
    // `b` and `s` select a side; its effect depends on the position.
    if (side === null || (portfolioId !== undefined && portfolio === undefined)) return;
    const closes = side === 'BUY' ? held < 0 : held > 0;
    setQuery({ side: undefined, intent: `${side}_TO_${closes ? 'CLOSE' : 'OPEN'}` });
  }, [side, portfolio === undefined, held]);
  const isAtMiddle = query.get('at') === 'mid';
  const middle = limitAtMiddle(market, kindOfTicket(query, symbol), instrument?.tickSize);
  useEffect(() => {
    // A ticket that closes or rolls begins in the middle of the market.
    if (isAtMiddle && middle !== undefined) setQuery({ at: undefined, type: 'LIMIT', limit: middle });
  }, [isAtMiddle, middle]);
  const timeframe = barTimeframes.find((one) => one === query.get('bars')) ?? '1Day';

  const chartMarket = symbol === charted ? market : sideOfQuote(feed.get(charted));
  const lines = ticketLines(query, symbol, charted, isBuy, chartMarket, instrument?.tickSize);

  const watch = (
    <WatchList
      sets={sets}
      current={charted}
      feed={feed}
      onChange={(next) => {
        keepSets(next);
        setSets(next);
      }}
    />
  );
  const chart = (
    <PriceChart
      symbol={charted}
      timeframe={timeframe}
      range={query.get('range') ?? ''}
      compared={compared}
      feed={feed}
      portfolio={portfolio}
      orders={orders.rows}
      market={chartMarket}
      tickSize={symbol === charted ? instrument?.tickSize : undefined}
      ticket={mayTrade && portfolioId !== undefined ? lines : undefined}
    />
  );
  const options = <OptionPanel underlying={charted} query={query} portfolio={portfolio} preview={preview} />;
  const controls = broker.may('simulate') && (
    <div class="pad">
      {broker.controlsMarket && <PushQuote symbol={symbol} />}
      {kindOfSymbol(charted) === 'EQUITY' && <CorporateActions symbol={charted} />}
    </div>
  );
  const ticket = !mayTrade ? (
    <Empty>Read-only token: it cannot place orders.</Empty>
  ) : portfolioId === undefined ? (
    <Empty>
      No portfolio to trade in. <a href={hrefOf(broker.simulationId, '', { new: '1' })}>Open a portfolio</a>{' '}
      first.
    </Empty>
  ) : (
    <Ticket
      query={query}
      symbol={symbol}
      portfolios={portfolios}
      portfolioId={portfolioId}
      portfolio={portfolio}
      instrument={instrument}
      market={market}
      order={order}
      missing={missing}
      preview={preview}
      isOpen={(orderId) => {
        const placed = orders.rows.find((one) => one.orderId === orderId);
        return placed === undefined || isOpenOrder(placed);
      }}
    />
  );
  const dock =
    portfolioId === undefined ? null : (
      <Dock
        portfolio={portfolio}
        portfolioId={portfolioId}
        orders={orders}
        tab={query.get('dock') ?? 'positions'}
      />
    );
  const views = [
    { id: 'chart', title: 'Chart', content: () => chart },
    { id: 'options', title: 'Options', content: () => options },
    ...(controls === false ? [] : [{ id: 'market', title: 'Market control', content: () => controls }]),
  ];
  const shown = query.get('show') ?? 'chart';
  const show = (id: string): void => setQuery({ show: id === 'chart' ? undefined : id });
  const isNarrow = useMedia(NARROW);
  const isMedium = useMedia(MEDIUM);
  const notice = (
    <p class="dim small charts-by">
      Charts by{' '}
      <a href="https://www.tradingview.com/" rel="noreferrer">
        TradingView Lightweight Charts
      </a>
    </p>
  );
  if (isNarrow)
    return (
      <div class="desk narrow">
        <Heading symbol={charted} feed={feed} />
        <TabPanels
          label="Trade"
          value={shown}
          onChange={show}
          panels={[
            {
              id: 'chart',
              title: 'Chart',
              content: () => (
                <>
                  {chart}
                  {notice}
                </>
              ),
            },
            { id: 'ticket', title: 'Ticket', content: () => ticket },
            { id: 'options', title: 'Options', content: () => options },
            { id: 'portfolio', title: 'Portfolio', content: () => dock },
            { id: 'watch', title: 'Watch list', content: () => watch },
          ]}
        />
      </div>
    );
  const hasWatch = shown !== 'options' || !isMedium;
  return (
    <div class="desk">
      <Split
        key={hasWatch ? 'all' : 'options'}
        id={hasWatch ? 'trade' : 'trade-options'}
        orientation="horizontal"
        panels={[
          ...(hasWatch ? [{ id: 'watch', title: 'watch list', size: 13, minSize: 8, content: watch }] : []),
          {
            id: 'middle',
            title: 'chart',
            size: hasWatch ? 63 : 76,
            minSize: 30,
            content: (
              <Split
                id="trade-middle"
                orientation="vertical"
                panels={[
                  {
                    id: 'view',
                    title: 'chart',
                    size: 66,
                    minSize: 20,
                    content: (
                      <div class="view">
                        <div class="view-top">
                          <Heading symbol={charted} feed={feed} />
                          {notice}
                        </div>
                        <TabPanels label="View" value={shown} onChange={show} panels={views} />
                      </div>
                    ),
                  },
                  { id: 'dock', title: 'portfolio', size: 34, minSize: 10, content: dock },
                ]}
              />
            ),
          },
          { id: 'ticket', title: 'ticket', size: 24, minSize: 16, content: ticket },
        ]}
      />
    </div>
  );
}

/** The symbol with its price, the change of the day, and its quote. */
function Heading({ symbol, feed }: { readonly symbol: string; readonly feed: QuoteFeed }) {
  const quote = useQuote(feed, symbol);
  const before = useDays([symbol])?.get(symbol)?.before;
  const moved = quote === undefined || before === undefined ? undefined : quote.price - before;
  return (
    <div class="heading">
      <h1>{symbol}</h1>
      <AlertButton symbol={symbol} />
      <strong class="last">
        <FlashingPrice key={symbol} value={quote?.price} />
      </strong>
      {moved !== undefined && before !== undefined && (
        <span class={tone(moved)}>
          {change(moved)} ({percentChange(moved / before)})
        </span>
      )}
      <span class="dim" aria-label="Quote">
        <span class="down">
          bid {price(quote?.bid)}
          {quote?.bidSize !== undefined && ` × ${quantity(quote.bidSize)}`}
        </span>{' '}
        <span class="up">
          ask {price(quote?.ask)}
          {quote?.askSize !== undefined && ` × ${quantity(quote.askSize)}`}
        </span>
      </span>
      {quote?.halted === true && <span class="tag bad">Halted {quote.haltReason}</span>}
    </div>
  );
}

function useMedia(condition: string): boolean {
  const media = useMemo(() => matchMedia(condition), [condition]);
  const [isMet, setIsMet] = useState(media.matches);
  useEffect(() => {
    const follow = (): void => setIsMet(media.matches);
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [media]);
  return isMet;
}
