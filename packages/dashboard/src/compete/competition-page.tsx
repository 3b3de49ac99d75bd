/** Competitions: the list, and one with its leaderboard and the curves of the first ten. Public ones need no account. */
import type { Competition, Leaderboard, LeaderboardCurves, LeaderboardRow } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { moment, money, percent, percentChange, quantity, scoreText, tone, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { useBrokerNames } from '../live/broker-names.ts';
import type { Column } from '../parts/column.ts';
import { Figure } from '../parts/figure.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, type DashboardRoute } from '../route.ts';
import { claimsOf, MAIN, tokenFor } from '../session.ts';
import { Enter } from './enter.tsx';
import { Entries } from './entries.tsx';
import { ManageCompetition } from './manage-competition.tsx';
import { type Member, read, useMember } from './member.ts';
import { EditCompetition, NewCompetition } from './new-competition.tsx';
import { rulesText, unrankedText } from './rules-text.ts';
import './compete.css';

/** Interval at which curves and the state of a competition are read; the leaderboard has a stream. */
const AGAIN_MS = 10_000;

export function CompetitionsPage({ place }: { readonly place: DashboardRoute }) {
  const { simulationId } = place;
  // The page of an entry reads with the token of the entry: the tenant of `main` in this browser may be another one.
  const isEntry = claimsOf(tokenFor(simulationId) ?? '')?.isEntry === true;
  const token = isEntry ? tokenFor(simulationId) : (tokenFor(MAIN) ?? tokenFor(simulationId));
  const tenant = useMember(token);
  const member = isEntry ? undefined : tenant;
  const competitionId = place.path[1] ?? '';
  if (competitionId === 'new')
    return (
      <>
        <div class="heading">
          <h1>New competition</h1>
          <a href={hrefOf(MAIN, 'competitions')}>All competitions</a>
        </div>
        <NewCompetition member={member} />
      </>
    );
  if (place.path[2] === 'edit')
    return (
      <>
        <div class="heading">
          <h1>Edit competition</h1>
          <a href={hrefOf(MAIN, 'competitions')}>All competitions</a>
        </div>
        <EditCompetition key={competitionId} competitionId={competitionId} member={member} />
      </>
    );
  return competitionId === '' ? (
    <List member={member} token={token} home={isEntry ? simulationId : MAIN} />
  ) : (
    <One
      key={competitionId}
      competitionId={competitionId}
      member={member}
      token={token}
      home={isEntry ? simulationId : MAIN}
    />
  );
}

/** The reader of a page, and the simulation that its links lead to. */
interface Reader {
  /** Undefined for a visitor and for the token of an entry, which neither enter nor organize. */
  readonly member: Member | undefined;
  readonly token: string | undefined;
  readonly home: string;
}

function List({ member, token, home }: Reader) {
  const found = useLoad(
    () => read<{ readonly data: readonly Competition[] }>('/competitions?limit=100', token),
    [token],
  );
  useEvery(AGAIN_MS, found.reload);
  const { value, error } = found;
  return (
    <>
      <div class="heading">
        <h1>Competitions</h1>
        {member?.may('simulate') === true && (
          <a class="button primary" href={hrefOf(MAIN, 'competitions/new')}>
            New competition
          </a>
        )}
      </div>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value?.data.length === 0 && (
        <Empty>
          <p>
            No competitions yet. A competition is one market that many traders or programs trade at the same
            time, with a leaderboard that follows every fill. Public ones are listed here for everyone.
          </p>
        </Empty>
      )}
      {value !== undefined && value.data.length > 0 && (
        <Table
          label="Competitions"
          columns={listColumns(home)}
          rows={value.data}
          keyOf={({ competitionId }) => competitionId}
        />
      )}
    </>
  );
}

const listColumns = (home: string): readonly Column<Competition>[] => [
  {
    title: 'Name',
    isLong: true,
    cell: ({ competitionId, name }) => <a href={hrefOf(home, `competitions/${competitionId}`)}>{name}</a>,
  },
  { title: 'Status', cell: ({ status, paused }) => (paused ? 'Paused' : words(status)) },
  { title: 'Entries', isNumber: true, cell: ({ entries }) => quantity(entries) },
  { title: 'Scoring', isSecondary: true, cell: ({ scoring }) => words(scoring) },
  { title: 'Starts', isSecondary: true, cell: ({ market }) => moment(market.start) },
  { title: 'Ends', isSecondary: true, cell: ({ market }) => moment(market.end) },
];

/** The leaderboard by its stream; a ticket opens it if a token is needed. */
function useLeaderboard(
  competitionId: string,
  token: string | undefined,
): { readonly value?: Leaderboard; readonly error?: Error; readonly reload: () => void } {
  const [state, setState] = useState<{ value?: Leaderboard; error?: Error }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let source: EventSource | undefined;
    const ended = new AbortController();
    const isOver = (): boolean => ended.signal.aborted;
    const follow = async (): Promise<void> => {
      const value = await read<Leaderboard>(`/competitions/${competitionId}/leaderboard`, token);
      if (isOver()) return;
      setState({ value });
      const ticket =
        token === undefined
          ? ''
          : `?ticket=${encodeURIComponent((await read<{ readonly ticket: string }>('/stream/ticket', token, 'POST')).ticket)}`;
      if (isOver()) return;
      source = new EventSource(`/v1/competitions/${competitionId}/leaderboard/stream${ticket}`);
      source.addEventListener('leaderboard', ({ data }: MessageEvent<string>) =>
        setState({ value: JSON.parse(data) as Leaderboard }),
      );
    };
    follow().catch((error: unknown) => {
      if (!isOver()) setState((old) => ({ ...old, error: errorFrom(error) }));
    });
    return () => {
      ended.abort();
      source?.close();
    };
  }, [competitionId, token, attempt]);
  return { ...state, reload: () => setAttempt((one) => one + 1) };
}

function One({ competitionId, member, token, home }: Reader & { readonly competitionId: string }) {
  const found = useLoad(
    () => read<Competition>(`/competitions/${competitionId}`, token),
    [competitionId, token],
  );
  const curves = useLoad(
    () => read<LeaderboardCurves>(`/competitions/${competitionId}/leaderboard/curves`, token),
    [competitionId, token],
  );
  useEvery(AGAIN_MS, found.reload);
  useEvery(AGAIN_MS, curves.reload);
  const board = useLeaderboard(competitionId, token);
  const error = found.error ?? board.error;
  const competition = found.value;
  return (
    <>
      <div class="heading">
        <h1>{competition?.name ?? 'Competition'}</h1>
        {home !== MAIN && (
          <a class="button primary" href={hrefOf(home, 'trade')}>
            Back to trading
          </a>
        )}
        <a href={hrefOf(home, 'competitions')}>All competitions</a>
      </div>
      {error !== undefined && <Problem error={error} retry={board.reload} />}
      {competition?.isOrganizer === true && member?.may('simulate') === true && (
        <ManageCompetition competition={competition} member={member} onChanged={found.reload} />
      )}
      {competition !== undefined && <Facts competition={competition} board={board.value} member={member} />}
      {curves.value !== undefined && curves.value.curves.length > 0 && (
        <LineChart
          key={curves.value.curves.map(({ entryId }) => entryId).join()}
          label={`Equity of the first ${curves.value.curves.length} of the leaderboard`}
          lines={curves.value.curves.map(({ displayName, points }) => ({
            name: displayName,
            points: points.map(({ at, equity }) => ({ atMs: Date.parse(at), value: equity })),
          }))}
          picture="leaderboard.png"
        />
      )}
      {board.value !== undefined && (
        <>
          <p class="dim" aria-live="off">
            As of {moment(board.value.at)}
          </p>
          {board.value.rows.length === 0 ? (
            <Empty>No entries yet.</Empty>
          ) : (
            <Table
              label="Leaderboard"
              columns={BOARD}
              rows={board.value.rows}
              keyOf={({ entryId }) => entryId}
            />
          )}
          {competition !== undefined && board.value.rows.length > 1 && (
            <p class="dim small">{unrankedText(competition.rules.minTrades)}</p>
          )}
        </>
      )}
      {competition !== undefined && member !== undefined && (
        <>
          <Entries
            key={`entries ${competition.entries} ${competition.status}`}
            competition={competition}
            member={member}
          />
          {isOpenForEntries(competition) && member.may('trade') && (
            <Enter competition={competition} member={member} />
          )}
        </>
      )}
      {competition !== undefined && token === undefined && isOpenForEntries(competition) && (
        <p>
          <a class="button" href={hrefOf(MAIN, '')}>
            Log in to enter
          </a>
        </p>
      )}
    </>
  );
}

const isOpenForEntries = ({ status, capacity, entries }: Competition): boolean =>
  (status === 'OPEN' || status === 'RUNNING') && (capacity === undefined || entries < capacity);

function Facts({
  competition: { status, paused, scoring, market, rules, entries, capacity, journalHash },
  board,
  member,
}: {
  readonly competition: Competition;
  readonly board: Leaderboard | undefined;
  readonly member: Member | undefined;
}) {
  const nameOfBroker = useBrokerNames(member?.client);
  const hash = board?.journalHash ?? journalHash;
  return (
    <>
      <dl class="figures wide">
        <Figure name="Status">{paused ? 'Paused' : words(board?.status ?? status)}</Figure>
        <Figure name="Scoring">{words(scoring)}</Figure>
        <Figure name="Starts">{moment(market.start)}</Figure>
        <Figure name="Ends">{moment(market.end)}</Figure>
        <Figure name="Initial cash">{money(rules.initialCash)}</Figure>
        <Figure name="Entries">
          {quantity(entries)}
          {capacity !== undefined && ` of ${quantity(capacity)}`}
        </Figure>
      </dl>
      <ul class="rules" aria-label="Rules">
        {rulesText(rules, nameOfBroker).map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
      {hash !== undefined && (
        <p class="notice" role="status">
          The result is final. Hash of the journals: <code>{hash}</code>.{' '}
          <code>sandpit competition verify FILE</code> recomputes it from the export.
        </p>
      )}
    </>
  );
}

const BOARD: readonly Column<LeaderboardRow>[] = [
  { title: 'Rank', isNumber: true, cell: ({ rank }) => quantity(rank) },
  { title: 'Name', isLong: true, cell: ({ displayName }) => displayName },
  { title: 'Equity', isNumber: true, cell: ({ totalEquity }) => money(totalEquity) },
  {
    title: 'Return',
    isNumber: true,
    cell: ({ return: value }) => <span class={tone(value)}>{percentChange(value)}</span>,
  },
  {
    title: 'Score',
    isNumber: true,
    isWide: true,
    cell: ({ score }) => (score === undefined ? '–' : scoreText(score)),
  },
  { title: 'Drawdown', isNumber: true, isSecondary: true, cell: ({ maxDrawdown }) => percent(maxDrawdown) },
  { title: 'Trades', isNumber: true, isSecondary: true, cell: ({ trades }) => quantity(trades) },
  { title: 'Status', cell: ({ status }) => words(status) },
];
