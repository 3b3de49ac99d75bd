/** The entries of a competition: of the organizer all of them, of others their own. */
import type { Competition, Entry } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { moment, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { keepToken, tokenFor } from '../session.ts';
import { goTrading } from './enter.tsx';
import type { Member } from './member.ts';

const AGAIN_MS = 5000;
/** Entries of one page; the leaderboard has the rest. */
const MOST = 500;

export function Entries({
  competition: { competitionId, status, isOrganizer },
  member,
}: {
  readonly competition: Competition;
  readonly member: Member;
}) {
  const params = { competitionId };
  const found = useLoad(
    () => member.client.call('listEntries', { params, query: { limit: MOST } }),
    [competitionId],
  );
  useEvery(AGAIN_MS, found.reload);
  const [error, setError] = useState<Error>();
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(found.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const trade = async (entry: Entry): Promise<void> => {
    if (tokenFor(entry.simulationId) === undefined)
      keepToken(
        (await member.client.call('createEntryToken', { params: { ...params, entryId: entry.entryId } }))
          .token,
      );
    goTrading(entry);
  };
  const disqualify = ({ entryId, displayName }: Entry): void => {
    const reason = prompt(
      `Disqualify ${displayName}? Its orders are canceled. Reason, shown with the entry:`,
    );
    if (reason !== null)
      after(
        member.client.call('disqualifyEntry', {
          params: { ...params, entryId },
          body: { status: 'DISQUALIFIED', ...(reason.trim() !== '' && { reason: reason.trim() }) },
        }),
      );
  };
  const withdraw = ({ entryId, displayName }: Entry): void => {
    if (confirm(`Withdraw ${displayName}? Its orders are canceled and new ones are refused.`))
      after(member.client.call('withdrawEntry', { params: { ...params, entryId } }));
  };
  const isOver = status === 'FINISHED' || status === 'CANCELED';
  const columns: readonly Column<Entry>[] = [
    { title: 'Name', isLong: true, cell: ({ displayName }) => displayName },
    {
      title: 'Status',
      cell: (entry) => (
        <span title={entry.reason}>
          {words(entry.status)}
          {entry.reason !== undefined && `: ${entry.reason}`}
        </span>
      ),
    },
    { title: 'Entered', isSecondary: true, cell: ({ createdAt }) => moment(createdAt) },
    {
      title: 'Actions',
      cell: (entry) => {
        const isOwn = !isOrganizer || tokenFor(entry.simulationId) !== undefined;
        return (
          <span class="inline">
            {isOwn && (
              <button
                type="button"
                class="small"
                aria-label={`Trade ${entry.displayName}`}
                onClick={() => after(trade(entry))}
              >
                Trade
              </button>
            )}
            {isOwn && !isOver && entry.status === 'ACTIVE' && (
              <button
                type="button"
                class="small"
                aria-label={`Withdraw ${entry.displayName}`}
                onClick={() => withdraw(entry)}
              >
                Withdraw
              </button>
            )}
            {isOrganizer && !isOver && entry.status === 'ACTIVE' && member.may('simulate') && (
              <button
                type="button"
                class="small danger"
                aria-label={`Disqualify ${entry.displayName}`}
                onClick={() => disqualify(entry)}
              >
                Disqualify
              </button>
            )}
          </span>
        );
      },
    },
  ];
  const entries = found.value?.data ?? [];
  if (found.error !== undefined) return <Problem error={found.error} retry={found.reload} />;
  if (entries.length === 0) return null;
  return (
    <section>
      <h2>{isOrganizer ? 'Entries' : 'Your entries'}</h2>
      {error !== undefined && <Refusal error={error} />}
      <Table label="Entries" columns={columns} rows={entries} keyOf={({ entryId }) => entryId} />
    </section>
  );
}
